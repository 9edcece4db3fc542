import { everyChannel } from './channels/every-channel.ts';
import { teamsPeer } from './channels/teams-peer.ts';

everyChannel('Microsoft Teams', teamsPeer, [
  ...(['edits', 'deletes', 'documents', 'bots', 'pings', 'forms'] as const),
  ...(['administrators', 'format-refused'] as const),
]);
