import type { ContextSource } from '@parley/prompt';

/** Says that this turn does what BOOT.md asks for after a start (W08): to an owner in a direct chat alone. */
export const bootSource: ContextSource = {
  id: 'boot',
  async gather({ reader, messages }) {
    const isBoot = messages.some(({ occasion }) => occasion === 'boot');
    return isBoot && reader.kind === 'owner' ? { boot: true } : {};
  },
};
