import type { PromptFeatures } from '@parley/prompt';
import { isPlaceholder } from '../modes/tools-in-mode.ts';
import type { ToolSet } from '../tools/tool-registry.ts';
import { type ApprovalRules, asks } from './approval-policy.ts';

/** What the model is told of the tools that need a yes; nothing where there are none. */
export function approvalsNote(
  tools: ToolSet,
  rules: Pick<ApprovalRules, 'ask' | 'waitMs'> | undefined,
): Pick<PromptFeatures, 'approvals'> {
  if (rules === undefined) return {};
  const names = tools.names.filter((name) => {
    const tool = tools.get(name);
    return tool !== undefined && asks(tool, rules) && !isPlaceholder(tools, name);
  });
  if (names.length === 0) return {};
  const isSometimes = (name: string) =>
    tools.get(name)?.spares !== undefined && !rules.ask.includes(name);
  const each = listOf(names.filter((name) => !isSometimes(name)));
  const some = listOf(names.filter(isSometimes));
  const before = [
    ...(each === '' ? [] : [`each call of: ${each}`]),
    ...(some === '' ? [] : [`some calls of: ${some}`]),
  ].join(', and before ');
  const text = `A person is asked before ${before}. Call them as you need them; you are told what was decided. After a no, do not try to reach the same in another way.`;
  return { approvals: { text, source: 'approvals', audience: { kind: 'everyone' } } };
}

function listOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
