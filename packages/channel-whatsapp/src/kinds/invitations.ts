import type { proto } from '@whiskeysockets/baileys';
import {
  formatHeading,
  formatLabeledLine,
  formatUtcMinute,
  joinLines,
  type KindContent,
  toSafeInteger,
} from './reading.ts';

/**
 * The format of invitation codes in the apps. Other text could become a link that its sender
 * chooses.
 */
const CODE = /^[\w-]{8,64}$/;

export function readGroupInvitation(invitation: proto.Message.IGroupInviteMessage): KindContent {
  const { groupName, inviteCode, inviteExpiration, caption } = invitation;
  const link = CODE.test(inviteCode ?? '') ? `https://chat.whatsapp.com/${inviteCode}` : '';
  return {
    shown: joinLines(
      formatHeading('Invitation to a group', groupName),
      formatLabeledLine('Link', link),
      formatLabeledLine('Valid until', formatUtcMinute(inviteExpiration)),
      caption,
    ),
  };
}

type ChannelInvitation = proto.Message.INewsletterFollowerInviteMessage &
  Pick<proto.Message.INewsletterAdminInviteMessage, 'inviteExpiration'>;

export function readAdminInvitation(invitation: ChannelInvitation): KindContent {
  return readChannelInvitation('Invitation to manage a channel', invitation);
}

export function readFollowerInvitation(invitation: ChannelInvitation): KindContent {
  return readChannelInvitation('Invitation to follow a channel', invitation);
}

function readChannelInvitation(label: string, invitation: ChannelInvitation): KindContent {
  const { newsletterName, caption, inviteExpiration } = invitation;
  const until = formatLabeledLine('Valid until', formatUtcMinute(toSafeInteger(inviteExpiration)));
  return { shown: joinLines(formatHeading(label, newsletterName), until, caption) };
}
