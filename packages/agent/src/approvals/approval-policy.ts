import type { CallMoment, Proposal, Tool } from '../tools/tool.ts';
import { isAllowed, isNamed } from './auto-pattern.ts';

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
  return tool.approval !== 'never' || ask.includes(tool.name);
}

/** Whether a tool asks about every call: no use where nobody can be asked. */
export function asksAlways(tool: Pick<Tool, 'approval' | 'spares'> | undefined): boolean {
  return tool?.approval === 'ask' && tool.spares === undefined;
}

/** Whether a tool asks about some of its calls alone, and the settings do not ask about all. */
export function isSometimes(
  { name, approval, spares }: Pick<Tool, 'name' | 'approval' | 'spares'>,
  { ask }: Pick<ApprovalRules, 'ask'>,
): boolean {
  return !ask.includes(name) && (approval === 'ask-after-foreign-words' || spares !== undefined);
}

/** Whether this call needs no yes, although others of its tool do. */
export function isSpared(
  tool: Pick<Tool, 'approval' | 'spares'>,
  input: unknown,
  moment: CallMoment,
): boolean {
  if (tool.approval === 'ask-after-foreign-words' && !moment.foreignWords) return true;
  return tool.spares?.(input, moment) === true;
}

/**
 * What one call needs. `subject` is what it is about: the first of the tool's arguments in the order of
 * its schema, which the model cannot change; null when that is no text. `isSpared`: its tool says that
 * this one needs no approval. `proposal`: what it would change, which may have to be asked always.
 */
export function needOf(
  tool: Pick<Tool, 'name' | 'approval'>,
  subject: string | null,
  rules: Pick<ApprovalRules, 'ask' | 'auto'>,
  isSpared = false,
  proposal: Pick<Proposal, 'always'> | null = null,
): Need {
  if (proposal?.always === true) {
    return rules.auto.some((entry) => isNamed(entry, tool.name, subject)) ? 'auto' : 'ask';
  }
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
