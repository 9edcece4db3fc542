import type { Capabilities } from '@parley/contracts';

/** What a WhatsApp account can do; known without the library. */
export const CAPABILITIES: Capabilities = {
  // Real clients take 65,536; nobody reads more than this in one bubble.
  target: { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' },
  idempotentSend: true,
  typing: true,
  edit: true,
  delete: true,
  react: true,
  threads: false,
  quotes: true,
  buttons: false,
  // Each edit is a message of its own to WhatsApp, which blocks numbers that send many.
  streaming: 'none',
  media: ['image', 'audio', 'voice', 'video', 'document'],
};

/** Three messages a second have brought 429s, and blocked numbers: a person does not write as fast. */
export const RATES: Capabilities['rates'] = {
  account: { burst: 5, everyMs: 1_000 },
  direct: { burst: 3, everyMs: 2_000 },
  group: { burst: 3, everyMs: 2_000 },
};
