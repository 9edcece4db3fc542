import type { ToolNote } from '../context.ts';

/** Tools of all five tiers, as the owner has them. */
export const TOOLS: readonly ToolNote[] = [
  { name: 'current_time', summary: 'Says what time it is anywhere.', tier: 'middleware' },
  {
    name: 'message',
    summary: 'Writes to another chat.',
    hint: 'Not for the answer itself.',
    tier: 'middleware',
  },
  {
    name: 'write_todos',
    summary: 'Keeps the list of what is to be done here.',
    hint: 'For work of several steps, not for quick questions.',
    tier: 'middleware',
  },
  { name: 'read', summary: 'Reads a file of the workspace.', tier: 'filesystem' },
  {
    name: 'write',
    summary: 'Writes a file of the workspace.',
    hint: 'Read it first when it exists.',
    tier: 'filesystem',
  },
  {
    name: 'shop_stock',
    summary: 'Says how many copies of a book are there.',
    tier: 'external-mcp',
  },
  {
    name: 'exec',
    summary: 'Runs a command.',
    hint: 'Only when no other tool does the job.',
    tier: 'sandbox',
  },
  {
    name: 'search_memory',
    summary: 'Finds related notes and memories.',
    tier: 'knowledge-base',
  },
  {
    name: 'save_memory',
    summary: 'Keeps something for later.',
    tier: 'knowledge-base',
  },
];

/** What anyone may use. */
export const GUEST_TOOLS: readonly ToolNote[] = TOOLS.filter(({ name }) =>
  ['current_time', 'search_memory', 'save_memory'].includes(name),
);
