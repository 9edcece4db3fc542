/**
 * What the page recommends to operators: approval for addresses that a model made up, and for text
 * that reaches later turns. All other calls run without approval.
 */
export const CAREFUL = {
  web: { fetch: { approval: 'unknown' } },
  approvals: {
    ask: ['write', 'edit', 'save_memory'],
    auto: [
      'write:notes/*',
      'edit:notes/*',
      'save_memory:preference',
      'save_memory:habit',
      'save_memory:constraint',
      'save_memory:skill',
    ],
  },
} as const;

/** The careful settings as an operator would write them. */
export function formatCarefulSettings(): string {
  const { web, approvals } = CAREFUL;
  return [
    'web:',
    '  fetch:',
    `    approval: ${web.fetch.approval}`,
    'approvals:',
    `  ask: [${approvals.ask.join(', ')}]`,
    '  auto:',
    ...approvals.auto.map((rule) => `    - '${rule}'`),
  ].join('\n');
}
