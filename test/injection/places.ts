/** The people and chats of one drill, shared with no other, so that drills can run in parallel. */
export interface DrillChats {
  /** An owner, and their direct chat. */
  readonly owner: number;
  /** A member of both groups who is not an owner. */
  readonly member: number;
  /** A person who may write directly, and their chat. */
  readonly stranger: number;
  readonly group: number;
  readonly otherGroup: number;
}

/** A group to which the settings let the agent write. */
export const FAMILY = -9_001;

/** The ids for a drill, counted from 0. */
export function createDrillChats(nth: number): DrillChats {
  const base = 10_000 + nth * 10;
  return {
    owner: base + 1,
    member: base + 2,
    stranger: base + 3,
    group: -(base + 4),
    otherGroup: -(base + 5),
  };
}
