/**
 * Whether two objects are the same, or two texts are equal. `===` loads both from memory even if they are the same, to see
 * of which type they are: for one of thousands 0.1 µs.
 */
export const isSame: (one: object | string | undefined, other: object | string | undefined) => boolean =
  Object.is
