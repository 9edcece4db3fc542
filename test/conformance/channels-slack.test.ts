import { everyChannel } from './channels/every-channel.ts';
import { startSlackPeer } from './channels/slack-peer.ts';

const LACKS = ['forms', 'administrators', 'format-refused'] as const;

everyChannel('Slack', () => startSlackPeer('webhook'), LACKS);
everyChannel('Slack in Socket Mode', () => startSlackPeer('socket'), LACKS);
