import type { ScriptedCall } from './script.ts';

/** Where `edit` leaves its marks: a second run of the same call would leave a second one. */
export const LEDGER = 'notes/ledger.md';

/** Of the owner alone, so that no approval is needed. */
export const OWNERS_LEDGER = '---\naudience: owner\n---\n# Ledger\n\nEND\n';

/** Leaves a mark in the ledger. */
export function edit(mark: string): ScriptedCall {
  return { name: 'edit', arguments: { path: LEDGER, old: 'END', new: `${mark}\nEND` } };
}

/** Leaves a mark in the list of the conversation. */
export function todos(mark: string): ScriptedCall {
  return { name: 'write_todos', arguments: { todos: [{ text: mark, state: 'done' }] } };
}
