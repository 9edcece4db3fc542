import { z } from 'zod';

const block = (what: string) => z.boolean().optional().describe(what);

/**
 * The prompt blocks that describe the turn (P05): `false` omits a block, `true` adds a block that
 * the layout omits. The purpose of a turn (a heartbeat task, a called skill, BOOT.md, a JSON
 * answer) is in none of these blocks, because it is present only on request.
 */
export const ContextSwitches = z.strictObject({
  time: block('Date and time.'),
  facts: block('Where and for whom the turn runs, with date and time.'),
  message: block('Who wrote the message, and what it answers.'),
  groupContext: block('Group messages since the last turn.'),
  ownMessages: block('Messages that Parley sent by itself since the last turn.'),
  attachments: block('The attachments of the message, and files that it names with @.'),
  profile: block('USER.md, and what was learned about the person and the project.'),
  memory: block('MEMORY.md.'),
  diary: block('memory/: the notes of today and yesterday.'),
  groupMemory: block('The notes on this group.'),
  yesterday: block('The summary of yesterday.'),
  memories: block('Saved memories that match the message.'),
  knowledge: block('Notes in knowledge/ that match the message.'),
  todos: block('The to-do list of the conversation.'),
  agents: block('AGENTS.md.'),
  toolNotes: block('TOOLS.md.'),
  mode: block('The mode of the conversation.'),
  approvals: block('Which calls need an approval.'),
  silentReplies: block('How to stay silent.'),
  replyTags: block('How to quote a message.'),
  connectors: block('What is connected.'),
  mcpPrompts: block('Prompts of MCP servers.'),
  resources: block('Content that can be read on demand.'),
  sandbox: block('Where commands run.'),
});
export type ContextSwitches = Readonly<z.infer<typeof ContextSwitches>>;
export type ContextBlock = keyof ContextSwitches;
