import type { Tool } from '../tools/tool.ts';
import { isAllowed } from './auto-pattern.ts';

/** What the settings say of approvals (G05). */
export interface ApprovalRules {
  /** Tools that need a yes although they do not ask for one themselves. */
  readonly ask: readonly string[];
  /** What needs none: names of tools, or `tool:pattern`. */
  readonly auto: readonly string[];
  /** Who may decide besides owners: `telegram:42`. */
  readonly approvers: readonly string[];
  /** How long an answer is waited for, in ms. */
  readonly waitMs: number;
}

/** `never`: nobody need be asked. `auto`: the settings have said yes, which is recorded. */
export type Need = 'never' | 'auto' | 'ask';

/** Whether calls of a tool need a yes at all. */
export function asks(tool: Pick<Tool, 'name' | 'approval'>, { ask }: Pick<ApprovalRules, 'ask'>) {
  return tool.approval === 'ask' || ask.includes(tool.name);
}

/**
 * What one call needs. `subject` is what it is about: the first of the tool's arguments in the order of
 * its schema, which the model cannot change; null when that is no text. `isSpared`: its tool says that
 * this one needs no yes.
 */
export function needOf(
  tool: Pick<Tool, 'name' | 'approval'>,
  subject: string | null,
  rules: ApprovalRules,
  isSpared = false,
): Need {
  if (!asks(tool, rules)) return 'never';
  if (isSpared && !rules.ask.includes(tool.name)) return 'never';
  return rules.auto.some((entry) => isAllowed(entry, tool.name, subject)) ? 'auto' : 'ask';
}

/** What a call is about; see `needOf`. `properties` are those of the tool's JSON Schema. */
export function subjectOf(
  properties: unknown,
  input: Readonly<Record<string, unknown>>,
): string | null {
  if (typeof properties !== 'object' || properties === null) return null;
  const [first] = Object.keys(properties);
  const value = first === undefined ? undefined : input[first];
  return typeof value === 'string' ? value : null;
}
