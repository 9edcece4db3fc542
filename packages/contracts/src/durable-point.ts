/**
 * The named points of the durable path at which a process may die without harm (D01, D04).
 * The crash checks kill the process at each of them.
 */
export const DURABLE_POINTS = [
  'received',
  'inbox-committed',
  'turn-claimed',
  'model-called',
  'step-journalled',
  'turn-committed',
  'part-sending',
  'part-sent',
  'part-recorded',
  'account-taken',
  'job-fired',
] as const;
export type DurablePoint = (typeof DURABLE_POINTS)[number];

/** Called whenever work passes a durable point; does nothing outside the crash checks. */
export type PassPoint = (point: DurablePoint) => void;
