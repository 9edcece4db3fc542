import type { Layout } from '../layout.ts';

/**
 * A fixed skeleton that fills in what is known, then the facts, then three files under strict limits
 * (P04). What the house does not name stands before the person's words, so that the order stays its own.
 */
export const mushroom: Layout = {
  name: 'mushroom',
  layers: [
    // 1. The skeleton.
    { layer: 'identity' },
    { layer: 'safety' },
    { layer: 'profile', heading: '## User', files: ['USER.md'] },
    { layer: 'persona', heading: '## Persona' },
    { layer: 'skills', heading: '## Skills' },
    { layer: 'knowledge', heading: '## Knowledge Context' },
    { layer: 'yesterday', heading: '## Conversation Summary' },
    { layer: 'response-format', heading: '## Response Format' },
    // 2. The facts.
    { layer: 'runtime-facts', heading: '## Runtime Facts' },
    // 3. The files.
    {
      layer: 'workspace-context',
      heading: '# Workspace Context',
      files: ['AGENTS.md', 'SOUL.md', 'IDENTITY.md'],
      characters: 4_000,
      charactersInAll: 12_000,
    },
    // 4. On heartbeat turns.
    { layer: 'heartbeat' },
    // Before the person's words.
    { layer: 'bootstrap-file', placement: 'user' },
    { layer: 'boot-file', placement: 'user' },
    { layer: 'conversation-mode', placement: 'user' },
    { layer: 'approvals', placement: 'user' },
    { layer: 'output-format', placement: 'user' },
    { layer: 'format', placement: 'user' },
    { layer: 'silent-replies', placement: 'user' },
    { layer: 'reply-tags', placement: 'user' },
    { layer: 'called-skills', placement: 'user' },
    { layer: 'connectors', placement: 'user' },
    { layer: 'group-memory', placement: 'user' },
    { layer: 'memories', placement: 'user' },
    { layer: 'todos', placement: 'user' },
    { layer: 'attachments', placement: 'user' },
    { layer: 'group-context' },
    { layer: 'message-context' },
    // 5. Always the last.
    { layer: 'ephemeral' },
  ],
};
