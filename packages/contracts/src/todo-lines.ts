const SIGNS = { done: '✅', doing: '▶️', open: '⬜' } as const;

/** A list of to-dos as people see it (G12), in Markdown: how far it has come, then one item a line. */
export function todoLines(
  items: readonly { readonly text: string; readonly state: keyof typeof SIGNS }[],
): string {
  const done = items.filter(({ state }) => state === 'done').length;
  const lines = items.map(({ text, state }) => `- ${SIGNS[state]} ${text.replace(/\s+/g, ' ')}`);
  return [`${done} of ${items.length} done:`, '', ...lines].join('\n');
}
