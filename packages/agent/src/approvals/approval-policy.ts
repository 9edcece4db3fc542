import { hasOutsideText, type InboundMessage } from '@parley/core';
import type { PromptFeatures } from '@parley/prompt';
import { parsePromptCommand } from '../mcp/mcp-prompts.ts';
import { FIRST_MESSAGE } from '../sub-agents/delegate-task.ts';
import type { CallMoment, Proposal, Tool } from '../tools/tool.ts';
import { isPlaceholderTool, type ToolSet } from '../tools/tool-set.ts';
import { isAllowedByEntry, isAllowedExactly } from './auto-rules.ts';

export interface ApprovalRules {
  /** Tools that need an approval even though they do not request it themselves. */
  readonly ask: readonly string[];
  /** Calls that are approved in advance: tool names, or `tool:pattern`. */
  readonly auto: readonly string[];
  /** People besides the owners who may decide, for example `telegram:42`. */
  readonly approvers: readonly string[];
  readonly waitMs: number;
}

/** `auto` means that the settings approve the call, which is recorded. */
export type ApprovalRequirement = 'never' | 'auto' | 'ask';

function canAskApproval(
  tool: Pick<Tool, 'name' | 'approval'>,
  { ask }: Pick<ApprovalRules, 'ask'>,
) {
  return tool.approval !== 'never' || ask.includes(tool.name);
}

/**
 * Whether every call of a tool needs an approval, which makes the tool useless if no approver can
 * be asked.
 */
export function alwaysNeedsApproval(tool: Pick<Tool, 'approval' | 'spares'> | undefined): boolean {
  return tool?.approval === 'ask' && tool.spares === undefined;
}

export function mayNeedApproval(
  { name, approval, spares }: Pick<Tool, 'name' | 'approval' | 'spares'>,
  { ask }: Pick<ApprovalRules, 'ask'>,
): boolean {
  return !ask.includes(name) && (approval === 'ask-after-untrusted-text' || spares !== undefined);
}

export function isExempt(
  tool: Pick<Tool, 'approval' | 'spares'>,
  input: unknown,
  moment: CallMoment,
): boolean {
  if (tool.approval === 'ask-after-untrusted-text' && !moment.untrustedText) return true;
  return tool.spares?.(input, moment) === true;
}

/**
 * Decides whether a call needs an approval. `subject` is the first argument in schema order, which
 * the model cannot change; null if it is not a string. `isSpared` means that the tool exempts this
 * call from approval. `proposal` is the change that the call would make.
 */
export function resolveApprovalRequirement(
  tool: Pick<Tool, 'name' | 'approval'>,
  subject: string | null,
  rules: Pick<ApprovalRules, 'ask' | 'auto'>,
  isSpared = false,
  proposal: Pick<Proposal, 'always'> | null = null,
): ApprovalRequirement {
  if (proposal?.always === true) {
    return rules.auto.some((entry) => isAllowedExactly(entry, tool.name, subject)) ? 'auto' : 'ask';
  }
  if (!canAskApproval(tool, rules)) return 'never';
  if (isSpared && !rules.ask.includes(tool.name)) return 'never';
  return rules.auto.some((entry) => isAllowedByEntry(entry, tool.name, subject)) ? 'auto' : 'ask';
}

export function findApprovalSubject(
  properties: unknown,
  input: Readonly<Record<string, unknown>>,
): string | null {
  if (typeof properties !== 'object' || properties === null) return null;
  const [first] = Object.keys(properties);
  const value = first === undefined ? undefined : input[first];
  return typeof value === 'string' ? value : null;
}

export function createApprovalsNote(
  tools: ToolSet,
  rules: Pick<ApprovalRules, 'ask' | 'waitMs'> | undefined,
): Pick<PromptFeatures, 'approvals'> {
  if (rules === undefined) return {};
  const asking = tools.names.flatMap((name) => {
    const tool = tools.get(name);
    return tool !== undefined && canAskApproval(tool, rules) && !isPlaceholderTool(tools, name)
      ? [tool]
      : [];
  });
  if (asking.length === 0) return {};
  const some = asking.filter((tool) => mayNeedApproval(tool, rules));
  const each = asking.filter((tool) => !some.includes(tool));
  const later = some.filter(({ approval }) => approval === 'ask-after-untrusted-text');
  const text = [
    formatToolList('A person is asked before each call of: ', each, ({ name }) => `\`${name}\``),
    formatToolList(
      'A person is asked before: ',
      some.filter((tool) => !later.includes(tool)),
      describeApprovalSubject,
    ),
    formatToolList(
      'Once a turn has read text from outsiders (pages, search results, files, forwarded messages, third-party tools, sub-agents), a person is asked before: ',
      later,
      describeApprovalSubject,
      '; ',
    ),
    'Call them when you need them; you are told the decision. After a refusal, do not try another way to the same end.',
  ]
    .filter((part) => part !== '')
    .join(' ');
  return { approvals: { text, source: 'approvals', audience: { kind: 'everyone' } } };
}

function describeApprovalSubject({ name, asksAbout }: Tool): string {
  return asksAbout ?? `some calls of \`${name}\``;
}

function formatToolList(
  begin: string,
  tools: readonly Tool[],
  textOf: (tool: Tool) => string,
  between = ', ',
): string {
  return tools.length === 0 ? '' : `${begin}${tools.map(textOf).join(between)}.`;
}

export interface TurnReadContent {
  readonly messages: readonly InboundMessage[];
  /** Tool results; `foreign` marks those that may have been written by outsiders. */
  readonly results: readonly { readonly foreign: boolean }[];
  /** Whether the turn that started this sub-agent had read text from outsiders. */
  readonly inherited?: boolean;
}

/**
 * Whether a turn has read text from outsiders: pages, servers, files, forwarded or quoted messages,
 * or sub-agents, which may have read any of these. The result depends only on messages and journal,
 * so a turn that resumes after a crash gets the same result (G16).
 */
export function hasUntrustedText({
  messages,
  results,
  inherited = false,
}: TurnReadContent): boolean {
  return inherited || results.some(({ foreign }) => foreign) || messages.some(isUntrustedMessage);
}

function isUntrustedMessage(message: InboundMessage): boolean {
  const { trigger, text } = message;
  // True for the result of a sub-agent; the message that starts a sub-agent has a fixed text.
  if (trigger !== undefined) return trigger === 'sub-agent' && text !== FIRST_MESSAGE;
  return hasOutsideText(message) || parsePromptCommand(text) !== null;
}
