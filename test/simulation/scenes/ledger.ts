import type { ScriptedCall } from './script.ts';

/** The file in which `edit` leaves its marks: running the same call twice would leave two. */
export const LEDGER = 'notes/ledger.md';

/** Readable only by the owner, so that no approval is needed. */
export const OWNERS_LEDGER = '---\naudience: owner\n---\n# Ledger\n\nEND\n';

/** Leaves a mark in the ledger. */
export function createEditCall(mark: string): ScriptedCall {
  return { name: 'edit', arguments: { path: LEDGER, old: 'END', new: `${mark}\nEND` } };
}

/** Leaves a mark in the list of the conversation. */
export function createTodoCall(mark: string): ScriptedCall {
  return { name: 'write_todos', arguments: { todos: [{ text: mark, state: 'done' }] } };
}
