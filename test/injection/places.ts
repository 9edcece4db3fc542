/** The people and chats of one drill: nobody else’s, so that drills can run at the same time. */
export interface Places {
  /** An owner, and their direct chat. */
  readonly owner: number;
  /** A member of both groups who is nobody’s owner. */
  readonly member: number;
  /** Somebody who may write directly, and their chat. */
  readonly stranger: number;
  readonly group: number;
  readonly otherGroup: number;
}

/** A group that the settings let the agent write to. */
export const FAMILY = -9_001;

/** Numbers for a drill, counted from 0. */
export function placesOf(nth: number): Places {
  const base = 10_000 + nth * 10;
  return {
    owner: base + 1,
    member: base + 2,
    stranger: base + 3,
    group: -(base + 4),
    otherGroup: -(base + 5),
  };
}
