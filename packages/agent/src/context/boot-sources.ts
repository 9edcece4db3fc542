import type { ContextSource } from '@parley/prompt';
import { decideBootstrap, type Workspace } from '@parley/workspace';

/** Marks the turn that carries out BOOT.md after a start (W08), only in an owner's direct chat. */
export const bootSource: ContextSource = {
  id: 'boot',
  async gather({ reader, messages }) {
    const isBoot = messages.some(({ trigger }) => trigger === 'boot');
    return isBoot && reader.kind === 'owner' ? { boot: true } : {};
  },
};

const BOOTSTRAP_FILE = 'BOOTSTRAP.md';

/**
 * Marks the turns that follow BOOTSTRAP.md (W08) and retires the file afterwards. Only an owner's
 * messages in a direct chat count, not heartbeats or starts. A preview (a turn without `fix`)
 * changes nothing.
 */
export function createBootstrapSource({ bootstrap }: Pick<Workspace, 'bootstrap'>): ContextSource {
  return {
    id: 'bootstrap',
    reads: [BOOTSTRAP_FILE],
    async gather({ reader, facts, messages, view, conversationId, session, fix }) {
      const isTalk = !facts.heartbeat && messages.every(({ trigger }) => trigger === undefined);
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
