import { z } from 'zod';

const block = (what: string) => z.boolean().optional().describe(what);

/**
 * The prompt blocks that describe the turn (P05): `false` omits one, `true` adds one that the
 * layout omits. The purpose of a turn (a heartbeat task, a called skill, BOOT.md, a JSON answer) is
 * in none of these blocks, because it is present only on request.
 */
export const ContextSwitches = z.strictObject({
  time: block('Date and time.'),
  facts: block('Where and for whom the turn runs, with date and time.'),
  message: block('Who wrote the message, and what it answers.'),
  groupContext: block('What a group said in between.'),
  ownMessages: block('What Parley sent in between by itself.'),
  attachments: block('What came with the message, and files that it names with @.'),
  profile: block('USER.md, and what was learned about the person and the project.'),
  memory: block('MEMORY.md.'),
  diary: block('memory/: the notes of today and yesterday.'),
  groupMemory: block('The notes on this group.'),
  yesterday: block('The summary of yesterday.'),
  memories: block('Saved memories that were found for the message.'),
  knowledge: block('Notes of knowledge/ that were found for the message.'),
  todos: block('The list of to-dos of the conversation.'),
  agents: block('AGENTS.md.'),
  toolNotes: block('TOOLS.md.'),
  mode: block('The mode of the conversation.'),
  approvals: block('What needs an approval.'),
  silentReplies: block('How to answer nothing.'),
  replyTags: block('How to quote a message.'),
  connectors: block('What is connected.'),
  mcpPrompts: block('Prompts of MCP servers.'),
  resources: block('What can be read on demand.'),
  sandbox: block('Where commands run.'),
});
export type ContextSwitches = Readonly<z.infer<typeof ContextSwitches>>;
export type ContextBlock = keyof ContextSwitches;
