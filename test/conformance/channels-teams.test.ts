import { everyChannel } from './channels/every-channel.ts';
import { startTeamsPeer } from './channels/teams-peer.ts';

everyChannel('Microsoft Teams', startTeamsPeer, [
  ...(['edits', 'deletes', 'documents', 'bots', 'pings', 'forms'] as const),
  ...(['administrators', 'format-refused'] as const),
]);
