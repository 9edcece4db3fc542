import type { Layout } from '../layout.ts';

/**
 * The order that OpenClaw's users know (P07). The runtime section has no clock: it would stand before
 * the files, and no provider could reuse what comes after it. The clock is in the user message.
 */
export const openclaw: Layout = {
  name: 'openclaw',
  layers: [
    { layer: 'identity' },
    { layer: 'tools', heading: '## Tooling' },
    { layer: 'tool-call-style', heading: '## Tool Call Style' },
    { layer: 'safety' },
    { layer: 'cli', heading: '## CLI' },
    { layer: 'skills', heading: '## Skills (mandatory)' },
    { layer: 'memory-guide', heading: '## Memory Recall' },
    { layer: 'workspace-folder', heading: '## Workspace' },
    { layer: 'reply-tags', heading: '## Reply Tags' },
    { layer: 'messaging', heading: '## Messaging' },
    { layer: 'silent-replies', heading: '## Silent Replies' },
    { layer: 'heartbeat', heading: '## Heartbeats' },
    { layer: 'chat-facts', heading: '## Runtime' },
    {
      layer: 'workspace-context',
      heading: '# Project Context',
      files: [
        'AGENTS.md',
        'SOUL.md',
        'TOOLS.md',
        'IDENTITY.md',
        'USER.md',
        'HEARTBEAT.md',
        'BOOTSTRAP.md',
        'BOOT.md',
        'MEMORY.md',
      ],
      characters: 20_000,
    },
    // What the house does not name, in its manner.
    { layer: 'daily-notes' },
    { layer: 'group-memory' },
    { layer: 'persona' },
    { layer: 'output-format' },
    { layer: 'format' },
    { layer: 'conversation-mode' },
    { layer: 'approvals' },
    { layer: 'connectors' },
    { layer: 'mcp-prompts' },
    { layer: 'resources' },
    { layer: 'sandbox' },
    { layer: 'profile' },
    { layer: 'yesterday' },
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
