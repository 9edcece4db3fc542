import { everyChannel } from './channels/every-channel.ts';
import { startLinesPeer } from './channels/lines-peer.ts';

everyChannel('the example of docs/new-channel.md', startLinesPeer, [
  ...([
    'threads',
    'albums',
    'documents',
    'edits',
    'deletes',
    'bot-edits',
    'buttons',
    'forms',
    'pings',
    'administrators',
  ] as const),
  ...(['server-error', 'format-refused', 'thrown-out'] as const),
]);
