-- What the node that has the data says of its memory.
-- KEYS[1] store ID: finds the node
return redis.call('INFO', 'memory')
