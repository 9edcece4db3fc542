import { absent, type Layer } from '../layer.ts';
import { countOf } from './count-of.ts';
import { listItem } from './quoted-block.ts';

const NOTE = 'Prepared prompts that a person can pick; mention one where it would help.';

/** Prompts that connected MCP servers offer (G03). */
export const mcpPromptsLayer: Layer = {
  id: 'mcp-prompts',
  volatility: 'session',
  placement: 'system',
  render({ mcpPrompts = [], reader }, { heading = '## MCP Prompts' }) {
    if (mcpPrompts.length === 0) return absent('no server offers prompts');
    const lines = mcpPrompts.map(({ server, name, description }) =>
      listItem(`\`${server}/${name}\`: ${description}`),
    );
    const { conversationId } = reader;
    return {
      text: [heading, NOTE, ...lines].join('\n'),
      source: countOf(mcpPrompts.length, 'MCP prompt'),
      audience: { kind: 'conversation', conversationId },
    };
  },
};
