import type { PromptFeatures } from '@parley/prompt';
import { isPlaceholder } from '../modes/tools-in-mode.ts';
import type { Tool } from '../tools/tool.ts';
import type { ToolSet } from '../tools/tool-registry.ts';
import { type ApprovalRules, asks, isSometimes } from './approval-policy.ts';

/** What the model is told of the calls that need a yes; nothing where there are none. */
export function approvalsNote(
  tools: ToolSet,
  rules: Pick<ApprovalRules, 'ask' | 'waitMs'> | undefined,
): Pick<PromptFeatures, 'approvals'> {
  if (rules === undefined) return {};
  const asking = tools.names.flatMap((name) => {
    const tool = tools.get(name);
    return tool !== undefined && asks(tool, rules) && !isPlaceholder(tools, name) ? [tool] : [];
  });
  if (asking.length === 0) return {};
  const some = asking.filter((tool) => isSometimes(tool, rules));
  const each = asking.filter((tool) => !some.includes(tool));
  const later = some.filter(({ approval }) => approval === 'ask-after-foreign-words');
  const text = [
    sentence('A person is asked before each call of: ', each, ({ name }) => `\`${name}\``),
    sentence(
      'A person is asked before: ',
      some.filter((tool) => !later.includes(tool)),
      aboutOf,
    ),
    sentence(
      'Once you have read words of outsiders in a turn (pages, search results, files and forwarded messages that somebody sends, tools of others, sub-agents), a person is asked before: ',
      later,
      aboutOf,
      '; ',
    ),
    'Call them as you need them; you are told what was decided. After a no, do not try to reach the same in another way.',
  ]
    .filter((part) => part !== '')
    .join(' ');
  return { approvals: { text, source: 'approvals', audience: { kind: 'everyone' } } };
}

function aboutOf({ name, asksAbout }: Tool): string {
  return asksAbout ?? `some calls of \`${name}\``;
}

function sentence(
  begin: string,
  tools: readonly Tool[],
  wordsOf: (tool: Tool) => string,
  between = ', ',
): string {
  return tools.length === 0 ? '' : `${begin}${tools.map(wordsOf).join(between)}.`;
}
