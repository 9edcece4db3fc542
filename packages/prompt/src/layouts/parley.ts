import type { Layout } from '../layout.ts';

/** As much of a workspace file as is shown, in characters. */
const characters = 20_000;

/**
 * The default: the best of each house, sorted by how rarely a layer changes (P09). All that changes from
 * one message to the next stands in the user message, so that a provider can reuse the system prompt
 * and all of the talk before it.
 */
export const parley: Layout = {
  name: 'parley',
  layers: [
    // Changes when somebody edits files or settings.
    { layer: 'identity' },
    { layer: 'safety' },
    { layer: 'conflict-order' },
    { layer: 'agents-file', characters },
    { layer: 'soul-file', characters },
    // The same throughout a session.
    { layer: 'persona' },
    { layer: 'tools', files: ['TOOLS.md'], characters },
    { layer: 'skills' },
    { layer: 'memory-guide' },
    { layer: 'output-format' },
    { layer: 'format', characters },
    { layer: 'silent-replies' },
    { layer: 'reply-tags' },
    { layer: 'sandbox' },
    { layer: 'chat-facts' },
    { layer: 'bootstrap-file', characters },
    // The same until something is saved, switched, or the day is over.
    { layer: 'conversation-mode' },
    { layer: 'approvals' },
    { layer: 'connectors' },
    { layer: 'mcp-prompts' },
    { layer: 'resources' },
    { layer: 'profile', files: ['USER.md'], characters },
    { layer: 'memory-file', characters },
    { layer: 'group-memory', characters },
    { layer: 'yesterday' },
    { layer: 'daily-notes', characters },
    // Of this turn alone. The cache boundary is here.
    { layer: 'heartbeat' },
    { layer: 'boot-file', characters },
    { layer: 'called-skills' },
    { layer: 'response-format' },
    { layer: 'todos', placement: 'user' },
    { layer: 'knowledge', placement: 'user' },
    { layer: 'memories', placement: 'user' },
    { layer: 'attachments', placement: 'user' },
    { layer: 'group-context' },
    { layer: 'turn-facts' },
    { layer: 'message-context' },
    { layer: 'ephemeral' },
  ],
};
