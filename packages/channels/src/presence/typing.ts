import { type Logger, reasonOf } from '@parley/contracts';
import type { ChannelAdapter, ChatAddress } from '../adapter.ts';

/** Quick answers need no "typing": it would cost a call and arrive with the answer. In ms. */
const TYPING_AFTER_MS = 300;

/** Shows "typing" after a moment, and again as often as the platform needs it, until the returned function is called. */
export function keepTyping(
  typing: NonNullable<ChannelAdapter['typing']>,
  address: ChatAddress,
  log: Logger,
): () => void {
  let timer: NodeJS.Timeout;
  const show = async (): Promise<void> => {
    try {
      await typing.show(address);
    } catch (error) {
      log.debug({ chat: address.chatId, reason: reasonOf(error) }, 'typing not shown');
    }
  };
  const again = (): void => {
    timer = setTimeout(again, typing.repeatMs).unref();
    void show();
  };
  timer = setTimeout(again, TYPING_AFTER_MS).unref();
  return () => clearTimeout(timer);
}
