import { everyChannel } from './channels/every-channel.ts';
import { slackPeer } from './channels/slack-peer.ts';

const LACKS = ['forms', 'administrators', 'format-refused'] as const;

everyChannel('Slack', () => slackPeer('webhook'), LACKS);
everyChannel('Slack in Socket Mode', () => slackPeer('socket'), LACKS);
