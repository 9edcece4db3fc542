/**
 * The settings section `approvals` that the page for people recommends: a yes for what leaves the
 * machine in an address, and for what later turns are told. The rest goes on without questions.
 */
export const CAREFUL = {
  ask: ['web_fetch', 'write', 'edit', 'save_memory'],
  auto: [
    'web_fetch:http://pages.example.com/*',
    'write:notes/*',
    'edit:notes/*',
    'save_memory:preference',
    'save_memory:habit',
    'save_memory:constraint',
    'save_memory:skill',
  ],
} as const;
