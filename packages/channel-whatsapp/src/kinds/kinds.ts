import type { proto } from '@whiskeysockets/baileys';
import {
  readQuestionAnswer,
  readQuotedStatus,
  readRichResponse,
  readSecretMessage,
} from './answers.ts';
import {
  readButtonChoice,
  readButtons,
  readInteractiveChoice,
  readInteractiveMessage,
  readListChoice,
  readListMessage,
  readOrder,
  readProduct,
  readStructuredMessage,
  readTemplateChoice,
  readTemplateMessage,
} from './business.ts';
import { readContact, readContacts } from './contacts.ts';
import { readCallLog, readEvent, readPoll, readPollResult, readScheduledCall } from './events.ts';
import { readAdminInvitation, readFollowerInvitation, readGroupInvitation } from './invitations.ts';
import {
  readAudio,
  readDocument,
  readImage,
  readSticker,
  readStickerPack,
  readText,
  readVideo,
} from './media.ts';
import { readInvoice, readPayment, readPaymentRequest } from './payments.ts';
import { readLiveLocation, readLocation } from './places.ts';
import { createNamedKind, type FieldKind, type WrapperMarks } from './reading.ts';

type MessageField = keyof Required<proto.IMessage>;
type FieldValue<Name extends MessageField> = NonNullable<proto.IMessage[Name]>;
export type FieldKinds = { readonly [Name in MessageField]: FieldKind<FieldValue<Name>> };

/**
 * Every field that a WhatsApp message may have. If a new version of Baileys adds a field, this does
 * not compile until the field is listed here.
 */
export const KINDS: FieldKinds = {
  // Fields with text and files.
  conversation: { is: 'read', read: (typed) => ({ typed }) },
  extendedTextMessage: { is: 'read', read: readText },
  imageMessage: { is: 'read', read: readImage },
  videoMessage: { is: 'read', read: readVideo },
  ptvMessage: { is: 'read', read: readVideo },
  audioMessage: { is: 'read', read: readAudio },
  documentMessage: { is: 'read', read: readDocument },
  stickerMessage: { is: 'read', read: readSticker },
  stickerPackMessage: { is: 'named', read: readStickerPack },

  // Fields for places, contacts, events, polls and calls.
  locationMessage: { is: 'read', read: readLocation },
  liveLocationMessage: { is: 'read', read: readLiveLocation },
  contactMessage: { is: 'read', read: readContact },
  contactsArrayMessage: { is: 'read', read: readContacts },
  eventMessage: { is: 'read', read: readEvent },
  encEventResponseMessage: createNamedKind('an answer to an event'),
  pollCreationMessage: { is: 'read', read: readPoll },
  pollCreationMessageV2: { is: 'read', read: readPoll },
  pollCreationMessageV3: { is: 'read', read: readPoll },
  pollCreationMessageV4: createWrapperKind('a poll'),
  pollCreationMessageV5: { is: 'read', read: readPoll },
  pollResultSnapshotMessage: { is: 'read', read: readPollResult },
  pollResultSnapshotMessageV3: { is: 'read', read: readPollResult },
  pollUpdateMessage: createNamedKind('a vote in a poll'),
  scheduledCallCreationMessage: { is: 'read', read: readScheduledCall },
  scheduledCallEditMessage: createNamedKind('a change of a planned call'),
  callLogMesssage: { is: 'read', read: readCallLog },
  call: createNamedKind('a call'),
  bcallMessage: {
    is: 'named',
    read: ({ caption }) => ({ shown: caption, unread: 'a call to many people' }),
  },

  // Fields for invitations and requests.
  groupInviteMessage: { is: 'read', read: readGroupInvitation },
  newsletterAdminInviteMessage: { is: 'read', read: readAdminInvitation },
  newsletterFollowerInviteMessageV2: { is: 'read', read: readFollowerInvitation },
  requestPhoneNumberMessage: createNamedKind('a request for the phone number of this account'),

  // Fields for messages from businesses.
  buttonsMessage: { is: 'read', read: readButtons },
  listMessage: { is: 'read', read: readListMessage },
  interactiveMessage: { is: 'read', read: readInteractiveMessage },
  templateMessage: { is: 'read', read: readTemplateMessage },
  highlyStructuredMessage: { is: 'named', read: readStructuredMessage },
  productMessage: { is: 'read', read: readProduct },
  orderMessage: { is: 'named', read: readOrder },
  buttonsResponseMessage: { is: 'read', read: readButtonChoice },
  listResponseMessage: { is: 'read', read: readListChoice },
  templateButtonReplyMessage: { is: 'read', read: readTemplateChoice },
  interactiveResponseMessage: { is: 'read', read: readInteractiveChoice },
  sendPaymentMessage: { is: 'named', read: readPayment },
  requestPaymentMessage: { is: 'named', read: readPaymentRequest },
  declinePaymentRequestMessage: createNamedKind('a refusal of a request for a payment'),
  cancelPaymentRequestMessage: createNamedKind('the withdrawal of a request for a payment'),
  paymentInviteMessage: createNamedKind('an invitation to payments'),
  invoiceMessage: { is: 'named', read: readInvoice },

  // Fields for comments, questions, statuses and assistants.
  commentMessage: createWrapperKind('a comment'),
  encCommentMessage: createNamedKind('a comment'),
  secretEncryptedMessage: { is: 'named', read: readSecretMessage },
  richResponseMessage: { is: 'read', read: readRichResponse },
  statusQuestionAnswerMessage: { is: 'read', read: readQuestionAnswer },
  questionResponseMessage: { is: 'read', read: readQuestionAnswer },
  statusQuotedMessage: { is: 'read', read: readQuotedStatus },
  statusStickerInteractionMessage: createNamedKind('a sticker on a status'),
  statusMentionMessage: createNamedKind('a status that mentions this account'),
  groupStatusMentionMessage: createNamedKind('a status that mentions this group'),
  placeholderMessage: createNamedKind('a message that WhatsApp shows on the phone alone'),

  // Fields that wrap another message.
  ephemeralMessage: createWrapperKind('a disappearing message'),
  viewOnceMessage: createWrapperKind('a view-once message', { isViewOnce: true }),
  viewOnceMessageV2: createWrapperKind('a view-once message', { isViewOnce: true }),
  viewOnceMessageV2Extension: createWrapperKind('a view-once message', { isViewOnce: true }),
  documentWithCaptionMessage: createWrapperKind('a document'),
  editedMessage: createWrapperKind('a changed message'),
  groupMentionedMessage: createWrapperKind('a message that mentions a group'),
  botInvokeMessage: createWrapperKind('a message to an assistant'),
  botTaskMessage: createWrapperKind('a task of an assistant'),
  botForwardedMessage: createWrapperKind('a message of an assistant', { origin: 'an assistant' }),
  lottieStickerMessage: createWrapperKind('an animated sticker', { isUnreadable: true }),
  eventCoverImage: createWrapperKind('the picture of an event'),
  pollCreationOptionImageMessage: createWrapperKind('the picture of an answer in a poll'),
  associatedChildMessage: createWrapperKind('a message that belongs to another'),
  statusAddYours: createWrapperKind('a status to join in'),
  groupStatusMessage: createWrapperKind('a status of the group'),
  groupStatusMessageV2: createWrapperKind('a status of the group'),
  questionMessage: createWrapperKind('a question to a channel'),
  questionReplyMessage: createWrapperKind('a reply to a question'),

  // Fields for changes to other messages, and for reactions.
  protocolMessage: { is: 'change' },
  reactionMessage: { is: 'change' },

  // Bookkeeping
  encReactionMessage: createIgnoredKind('an encrypted reaction; reactions start no turn'),
  keepInChatMessage: createIgnoredKind(
    'a message was kept in a disappearing chat, or released again',
  ),
  pinInChatMessage: createIgnoredKind('a message was pinned or unpinned'),
  limitSharingMessage: createIgnoredKind('sharing from the chat was limited or allowed'),
  albumMessage: createIgnoredKind('the start of an album; its files follow as separate messages'),
  chat: createIgnoredKind('an entry of the list of chats'),
  stickerSyncRmrMessage: createIgnoredKind('stickers were synchronized between devices'),
  messageHistoryBundle: createIgnoredKind(
    'earlier messages were shared with a new member of the group',
  ),
  messageHistoryNotice: createIgnoredKind(
    'earlier messages were shared with a new member of the group',
  ),
  statusNotificationMessage: createIgnoredKind('a status was shared or answered'),
  deviceSentMessage: createIgnoredKind(
    'a copy of a message that somebody wrote on another of their devices',
  ),
  senderKeyDistributionMessage: createSilentKind('keys of a group, sent along with a message'),
  fastRatchetKeySenderKeyDistributionMessage: createSilentKind(
    'keys of a group, sent along with a message',
  ),
  messageContextInfo: createSilentKind('metadata of the message'),
};

function createWrapperKind<Marks extends WrapperMarks>(holds: string, marks?: Marks) {
  return { is: 'wrapper', holds, ...marks } as const;
}

function createIgnoredKind(reason: string) {
  return { is: 'ignored', reason } as const;
}

function createSilentKind(reason: string) {
  return { is: 'silent', reason } as const;
}

/**
 * How to handle messages that change a setting or come from the platform, keyed by the name of
 * their type.
 */
export type ProtocolKind =
  | { readonly is: 'read' }
  | { readonly is: 'named'; readonly what: string }
  | { readonly is: 'ignored'; readonly reason: string };

export type ProtocolType = keyof typeof proto.Message.ProtocolMessage.Type;

const OWN_DEVICES = createIgnoredKind('the devices of an account synchronize');
const ASSISTANTS = createIgnoredKind('a setting of the WhatsApp assistants');

/** `read` means an edit, a deletion, or a timer for the chat. */
export const PROTOCOL_KINDS: Readonly<Record<ProtocolType, ProtocolKind>> = {
  REVOKE: { is: 'read' },
  MESSAGE_EDIT: { is: 'read' },
  EPHEMERAL_SETTING: { is: 'read' },
  STATUS_MENTION_MESSAGE: { is: 'named', what: 'a status that mentions this account' },
  REMINDER_MESSAGE: createIgnoredKind('a reminder that WhatsApp itself wrote'),
  SHARE_PHONE_NUMBER: createIgnoredKind(
    'they shared their phone number, which their messages contain',
  ),
  LIMIT_SHARING: createIgnoredKind('sharing from the chat was limited or allowed'),
  GROUP_MEMBER_LABEL_CHANGE: createIgnoredKind('the label of a member of the group was changed'),
  CLOUD_API_THREAD_CONTROL_NOTIFICATION: createIgnoredKind(
    'a business passed the chat on to another program',
  ),
  MEDIA_NOTIFY_MESSAGE: createIgnoredKind('a file was uploaded; its message arrives separately'),
  EPHEMERAL_SYNC_RESPONSE: OWN_DEVICES,
  HISTORY_SYNC_NOTIFICATION: OWN_DEVICES,
  APP_STATE_SYNC_KEY_SHARE: OWN_DEVICES,
  APP_STATE_SYNC_KEY_REQUEST: OWN_DEVICES,
  MSG_FANOUT_BACKFILL_REQUEST: OWN_DEVICES,
  INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC: OWN_DEVICES,
  APP_STATE_FATAL_EXCEPTION_NOTIFICATION: OWN_DEVICES,
  PEER_DATA_OPERATION_REQUEST_MESSAGE: OWN_DEVICES,
  PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE: OWN_DEVICES,
  LID_MIGRATION_MAPPING_SYNC: OWN_DEVICES,
  REQUEST_WELCOME_MESSAGE: ASSISTANTS,
  BOT_FEEDBACK_MESSAGE: ASSISTANTS,
  BOT_MEMU_ONBOARDING_MESSAGE: ASSISTANTS,
  STOP_GENERATION_MESSAGE: ASSISTANTS,
  AI_PSI_METADATA: ASSISTANTS,
  AI_QUERY_FANOUT: ASSISTANTS,
};
