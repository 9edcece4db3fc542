import { absent, type Layer } from '../layer.ts';
import type { ToolNote, ToolTier } from '../prompt-features.ts';

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

/** What the agent can do here, generated from the registered tools (P11). */
export const toolsLayer: Layer = {
  id: 'tools',
  volatility: 'session',
  placement: 'system',
  render({ tools }) {
    if (tools === undefined) return absent('it was not said which tools there are');
    const text = `## Tools\n${tools.length === 0 ? NO_TOOLS : describe(tools)}`;
    return { text, source: `${tools.length} tools`, audience: { kind: 'everyone' } };
  },
};

function describe(tools: readonly ToolNote[]): string {
  const groups = TIERS.flatMap(([tier, heading]) => {
    const lines = tools.filter((tool) => tool.tier === tier).map(line);
    return lines.length === 0 ? [] : [`### ${heading}\n${lines.join('\n')}`];
  });
  return groups.join('\n\n');
}

function line({ name, summary, hint }: ToolNote): string {
  return `- \`${name}\`: ${[summary, hint].filter((words) => words !== undefined).join(' ')}`;
}
