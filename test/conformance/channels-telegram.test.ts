import { everyChannel } from './channels/every-channel.ts';
import { telegramPeer } from './channels/telegram-peer.ts';

everyChannel('Telegram', telegramPeer, ['deletes', 'out-of-order']);
