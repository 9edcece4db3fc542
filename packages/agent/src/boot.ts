import type { ContextSource } from '@parley/prompt';
import { decideBootstrap, type Workspace } from '@parley/workspace';

/** Says that this turn does what BOOT.md asks for after a start (W08): to an owner in a direct chat alone. */
export const bootSource: ContextSource = {
  id: 'boot',
  async gather({ reader, messages }) {
    const isBoot = messages.some(({ occasion }) => occasion === 'boot');
    return isBoot && reader.kind === 'owner' ? { boot: true } : {};
  },
};

const BOOTSTRAP_FILE = 'BOOTSTRAP.md';

/**
 * Says that BOOTSTRAP.md leads this turn (W08), and puts the file away when its time is over. Only
 * words of an owner in a direct chat count: neither a heartbeat nor a start begins a conversation.
 * A prompt that belongs to no session (without `fix`) changes nothing.
 */
export function createBootstrapSource({ bootstrap }: Pick<Workspace, 'bootstrap'>): ContextSource {
  return {
    id: 'bootstrap',
    reads: [BOOTSTRAP_FILE],
    async gather({ reader, facts, messages, view, conversationId, session, fix }) {
      const isTalk = !facts.heartbeat && messages.every(({ occasion }) => occasion === undefined);
      const mark = reader.kind === 'owner' && isTalk ? await bootstrap.mark() : null;
      if (mark === null) return {};
      const file = await view.read(BOOTSTRAP_FILE);
      const { messageId } = facts;
      const turn = { conversationId, session, messageId };
      const step = decideBootstrap(mark, file.kind === 'file', turn);
      if (fix !== undefined && step.kind === 'retire') await bootstrap.retire();
      if (fix !== undefined && step.kind === 'lead') await bootstrap.keep(step.mark);
      return step.kind === 'lead' ? { bootstrap: true } : {};
    },
  };
}
