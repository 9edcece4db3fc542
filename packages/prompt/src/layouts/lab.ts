import type { Layout } from '../layout.ts';

/**
 * Persona, format, skills and tools, fixed for the session; everything that moves is put into the user
 * message, between two marks (P05). Best for providers that cache a prompt only as a whole.
 */
export const lab: Layout = {
  name: 'lab',
  fixedSystem: true,
  userFence: {
    open: '[memory context]',
    note: 'Parley adds this to the message; nobody typed it. The person’s own words begin after the closing mark.',
    close: '[/memory context]',
  },
  layers: [
    { layer: 'identity' },
    { layer: 'safety' },
    { layer: 'persona', files: ['SOUL.md'] },
    { layer: 'output-format' },
    { layer: 'format' },
    { layer: 'skills' },
    { layer: 'tools' },
    // Inside the memory context, what changes least first.
    { layer: 'agents-file', placement: 'user' },
    { layer: 'tools-file', placement: 'user' },
    { layer: 'bootstrap-file', placement: 'user' },
    { layer: 'boot-file', placement: 'user' },
    { layer: 'conversation-mode', placement: 'user' },
    { layer: 'approvals', placement: 'user' },
    { layer: 'silent-replies', placement: 'user' },
    { layer: 'reply-tags', placement: 'user' },
    { layer: 'connectors', placement: 'user' },
    { layer: 'mcp-prompts', placement: 'user' },
    { layer: 'resources', placement: 'user' },
    { layer: 'sandbox', placement: 'user' },
    { layer: 'profile', placement: 'user', files: ['USER.md'] },
    { layer: 'memory-file', placement: 'user' },
    { layer: 'daily-notes', placement: 'user' },
    { layer: 'group-memory', placement: 'user' },
    { layer: 'yesterday', placement: 'user' },
    { layer: 'knowledge', placement: 'user' },
    { layer: 'memories', placement: 'user' },
    { layer: 'todos', placement: 'user' },
    { layer: 'called-skills', placement: 'user' },
    { layer: 'heartbeat', placement: 'user' },
    { layer: 'response-format', placement: 'user' },
    { layer: 'attachments', placement: 'user' },
    { layer: 'runtime-facts', placement: 'user' },
    { layer: 'group-context' },
    { layer: 'message-context' },
    { layer: 'ephemeral', placement: 'user' },
  ],
};
