import type { Layout } from '../layout.ts';

/** As much of a file as this house shows, in characters (P08). */
const characters = 65_536;

/** Safety and tools, then the workspace file by file, and which of them counts where two disagree (P08). */
export const neomagi: Layout = {
  name: 'neomagi',
  layers: [
    { layer: 'identity' },
    { layer: 'safety' },
    { layer: 'tools', heading: '## Tooling', files: ['TOOLS.md'], characters },
    { layer: 'conflict-order' },
    { layer: 'agents-file', characters },
    { layer: 'soul-file', characters },
    { layer: 'user-file', characters },
    { layer: 'identity-file', characters },
    { layer: 'memory-file', characters },
    { layer: 'heartbeat-file', characters },
    { layer: 'bootstrap-file', characters },
    { layer: 'boot-file', characters },
    { layer: 'daily-notes', characters },
    // What the house does not name, in its manner.
    { layer: 'group-memory', characters },
    { layer: 'persona' },
    { layer: 'output-format' },
    { layer: 'format', characters },
    { layer: 'skills' },
    { layer: 'memory-guide' },
    { layer: 'conversation-mode' },
    { layer: 'approvals' },
    { layer: 'silent-replies' },
    { layer: 'reply-tags' },
    { layer: 'connectors' },
    { layer: 'mcp-prompts' },
    { layer: 'resources' },
    { layer: 'sandbox' },
    { layer: 'chat-facts' },
    { layer: 'profile' },
    { layer: 'yesterday' },
    { layer: 'heartbeat' },
    { layer: 'called-skills' },
    { layer: 'response-format' },
    // Before the person's words.
    { layer: 'todos', placement: 'user' },
    { layer: 'knowledge', placement: 'user' },
    { layer: 'memories', placement: 'user' },
    { layer: 'attachments', placement: 'user' },
    { layer: 'turn-facts' },
    { layer: 'group-context' },
    { layer: 'message-context' },
    { layer: 'ephemeral' },
  ],
};
