import type { Capabilities } from '@parley/contracts';

/** For tests: a platform that shows plain text in parts of 1,000 characters. */
export const CAPABILITIES: Capabilities = {
  target: { dialect: 'plain', maxLength: 1_000, unit: 'utf16' },
  idempotentSend: false,
  typing: true,
  edit: false,
  delete: false,
  react: false,
  threads: true,
  buttons: false,
  streaming: 'none',
  media: [],
};
