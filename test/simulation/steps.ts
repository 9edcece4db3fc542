/**
 * Steps after which the order of processes matters, each identified by a statement that it runs.
 */
const STATEMENTS = {
  'reads-parts': /from outbox\b.*\border by seq limit/s,
  'marks-part': /update outbox set state = 'sending'/,
  'takes-lane': /update conversation set epoch = epoch \+ 1, lease_owner/,
  'ends-turn': /update turn set state = :/,
} as const;

export type StepName = keyof typeof STATEMENTS;
export const STEP_NAMES = Object.keys(STATEMENTS) as readonly StepName[];

/** Whether a statement identifies a step of this kind. */
export function isStep(name: StepName, statement: string): boolean {
  return STATEMENTS[name].test(statement);
}
