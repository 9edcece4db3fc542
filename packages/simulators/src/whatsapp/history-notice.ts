import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys';

/**
 * What the phone tells a client that it has just linked: here is the history, none. Without it a
 * client holds back everything it gets for 20 seconds.
 */
export function historyNotice(): proto.IMessage {
  const { INITIAL_BOOTSTRAP } = proto.HistorySync.HistorySyncType;
  const history = proto.HistorySync.encode({
    syncType: INITIAL_BOOTSTRAP,
    chunkOrder: 1,
    progress: 100,
  }).finish();
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: INITIAL_BOOTSTRAP,
        chunkOrder: 1,
        progress: 100,
        initialHistBootstrapInlinePayload: deflateSync(history),
      },
    },
  };
}
