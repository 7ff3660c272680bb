# syntax=docker/dockerfile:1
FROM node:26.10.0-alpine AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Optional packages stay in this stage: one of them is the TypeScript compiler for this platform.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json build.ts ./
COPY src src
# What goes on has neither: the image has a Node of its own.
RUN node build.ts && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:26.10.0-alpine
ENV NODE_ENV=production \
    GATEHOUSE__LISTEN__HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY config config
# Where the shipped config keeps the database and the sealing key.
RUN mkdir data && chown node:node data
USER node
VOLUME ["/app/data"]
# The ops listener stays on 127.0.0.1:9090 in here unless GATEHOUSE__OPS__HOST opens it, so it is not exposed.
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Exec form: signals reach the gateway itself, which ends gracefully.
ENTRYPOINT ["node", "dist/main.js"]
# With the shipped config that is the demo without its backend: mount one at /app/config/gateway.yaml.
CMD ["serve"]
