import type { ToolNote, ToolTier } from '../prompt-features.ts';
import { listItem } from './quoted-block.ts';

const TIERS: readonly (readonly [ToolTier, string])[] = [
  ['middleware', 'Middleware'],
  ['filesystem', 'Filesystem'],
  ['external-mcp', 'External MCP'],
  ['sandbox', 'Sandbox'],
  ['knowledge-base', 'Knowledge base'],
];

/** Without this a model promises to look things up, to remember, to remind. */
const NO_TOOLS =
  'You have no tools in this chat: you can read messages, and what people attach to them as far as it is shown to you, and answer.';

/** Describes tools, each list once: it stays the same object as long as the tools do. */
export function toolDescriber(): (tools: readonly ToolNote[]) => string {
  const known = new WeakMap<readonly ToolNote[], string>();
  return (tools) => {
    const before = known.get(tools);
    if (before !== undefined) return before;
    const described = describeTools(tools);
    known.set(tools, described);
    return described;
  };
}

/** The registered tools by tier, in the words of their authors (P11). */
function describeTools(tools: readonly ToolNote[]): string {
  if (tools.length === 0) return NO_TOOLS;
  const groups = TIERS.flatMap(([tier, heading]) => {
    const lines = tools.filter((tool) => tool.tier === tier).map(line);
    return lines.length === 0 ? [] : [`### ${heading}\n${lines.join('\n')}`];
  });
  return groups.join('\n\n');
}

function line({ name, summary, hint, placeholder = false }: ToolNote): string {
  const words = [placeholder ? 'Not available now.' : '', summary, hint ?? ''];
  return listItem(`\`${name}\`: ${words.filter((word) => word !== '').join(' ')}`);
}
