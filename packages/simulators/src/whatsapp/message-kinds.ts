import { proto } from '@whiskeysockets/baileys';

/** A message class of Baileys' protobuf definitions. */
interface MessageCodec<Fields> {
  fromObject(document: { [name: string]: unknown }): Fields;
  encode(fields: Fields): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Fields;
}

/** A message type whose fields are all optional, and how it is embedded in a message. */
interface MessageKind {
  readonly name: string;
  readonly fields: readonly string[];
  /** Creates a message with these fields set, each to a value of its type. */
  message(fields: readonly string[]): proto.IMessage;
}

type SplitNames<Line extends string, Found = never> = Line extends `${infer First} ${infer Rest}`
  ? SplitNames<Rest, Found | First>
  : Found | Line;
/** Requires no further argument if the lines list exactly the message type's fields. */
type RequireComplete<Fields, Line extends string> = [keyof Fields, SplitNames<Line>] extends [
  SplitNames<Line>,
  keyof Fields,
]
  ? unknown
  : { readonly missing: Exclude<keyof Fields, SplitNames<Line>> };

/** Does not compile if the library has a field that the lines omit. */
function defineKind<Fields>(
  codec: MessageCodec<Fields> & { readonly name: string },
  wrap: (fields: Fields) => proto.IMessage,
) {
  return <Line extends string>(
    ...lines: (Line & RequireComplete<Fields, Line>)[]
  ): MessageKind => ({
    name: codec.name,
    fields: lines.flatMap((line) => line.split(' ')),
    message: (fields) =>
      wrap(
        codec.fromObject(
          Object.assign({}, ...fields.map((name) => createSampleValue(codec, name))),
        ),
      ),
  });
}

/** Strings are also tried as numbers and bytes, and numbers as enums. */
const CANDIDATES: readonly unknown[] = ['1111', 1, {}, ['1111'], [1], [{}]];

/** Returns a document in which this field has a value that survives encoding. */
function createSampleValue<Fields>(
  codec: MessageCodec<Fields>,
  name: string,
): { [name: string]: unknown } {
  for (const value of CANDIDATES) {
    const document = { [name]: value };
    try {
      const sent = codec.decode(codec.encode(codec.fromObject(document)).finish());
      if (Object.hasOwn(Object(sent), name)) return document;
    } catch {
      // The value does not fit the field's type.
    }
  }
  throw new Error(`No value fits the field ${name}`);
}

/** The messages that clients parse, with all their fields. */
export const MESSAGE_KINDS: readonly MessageKind[] = [
  defineKind<proto.IMessage>(proto.Message, (message) => message)(
    'conversation senderKeyDistributionMessage imageMessage contactMessage',
    'locationMessage extendedTextMessage documentMessage audioMessage videoMessage call',
    'chat protocolMessage contactsArrayMessage highlyStructuredMessage',
    'fastRatchetKeySenderKeyDistributionMessage sendPaymentMessage liveLocationMessage',
    'requestPaymentMessage declinePaymentRequestMessage cancelPaymentRequestMessage',
    'templateMessage stickerMessage groupInviteMessage templateButtonReplyMessage',
    'productMessage deviceSentMessage messageContextInfo listMessage viewOnceMessage',
    'orderMessage listResponseMessage ephemeralMessage invoiceMessage buttonsMessage',
    'buttonsResponseMessage paymentInviteMessage interactiveMessage reactionMessage',
    'stickerSyncRmrMessage interactiveResponseMessage pollCreationMessage',
    'pollUpdateMessage keepInChatMessage documentWithCaptionMessage',
    'requestPhoneNumberMessage viewOnceMessageV2 encReactionMessage editedMessage',
    'viewOnceMessageV2Extension pollCreationMessageV2 scheduledCallCreationMessage',
    'groupMentionedMessage pinInChatMessage pollCreationMessageV3',
    'scheduledCallEditMessage ptvMessage botInvokeMessage callLogMesssage',
    'messageHistoryBundle encCommentMessage bcallMessage lottieStickerMessage',
    'eventMessage encEventResponseMessage commentMessage newsletterAdminInviteMessage',
    'placeholderMessage secretEncryptedMessage albumMessage eventCoverImage',
    'stickerPackMessage statusMentionMessage pollResultSnapshotMessage',
    'pollCreationOptionImageMessage associatedChildMessage groupStatusMentionMessage',
    'pollCreationMessageV4 statusAddYours groupStatusMessage richResponseMessage',
    'statusNotificationMessage limitSharingMessage botTaskMessage questionMessage',
    'messageHistoryNotice groupStatusMessageV2 botForwardedMessage',
    'statusQuestionAnswerMessage questionReplyMessage questionResponseMessage',
    'statusQuotedMessage statusStickerInteractionMessage pollCreationMessageV5',
    'newsletterFollowerInviteMessageV2 pollResultSnapshotMessageV3',
  ),
  defineKind<proto.IContextInfo>(proto.ContextInfo, (contextInfo) => ({
    extendedTextMessage: { text: 'with context', contextInfo },
  }))(
    'stanzaId participant quotedMessage remoteJid mentionedJid conversionSource',
    'conversionData conversionDelaySeconds forwardingScore isForwarded quotedAd',
    'placeholderKey expiration ephemeralSettingTimestamp ephemeralSharedSecret',
    'externalAdReply entryPointConversionSource entryPointConversionApp',
    'entryPointConversionDelaySeconds disappearingMode actionLink groupSubject',
    'parentGroupJid trustBannerType trustBannerAction isSampled groupMentions utm',
    'forwardedNewsletterMessageInfo businessMessageForwardInfo smbClientCampaignId',
    'smbServerCampaignId dataSharingContext alwaysShowAdAttribution featureEligibilities',
    'entryPointConversionExternalSource entryPointConversionExternalMedium ctwaSignals',
    'ctwaPayload forwardedAiBotMessageInfo statusAttributionType urlTrackingMap',
    'pairedMediaType rankingVersion memberLabel isQuestion statusSourceType',
    'statusAttributions isGroupStatus forwardOrigin questionReplyQuotedMessage',
    'statusAudienceMetadata nonJidMentions quotedType botMessageSharingInfo',
  ),
  defineKind<proto.IMessageContextInfo>(proto.MessageContextInfo, (messageContextInfo) => ({
    conversation: 'with context',
    messageContextInfo,
  }))(
    'deviceListMetadata deviceListMetadataVersion messageSecret paddingBytes',
    'messageAddOnDurationInSecs botMessageSecret botMetadata reportingTokenVersion',
    'messageAddOnExpiryType messageAssociation capiCreatedGroup supportPayload',
    'limitSharing limitSharingV2 threadId weblinkRenderConfig',
  ),
  defineKind<proto.IMessageAssociation>(proto.MessageAssociation, (messageAssociation) => ({
    conversation: 'of an album',
    messageContextInfo: { messageAssociation },
  }))('associationType parentMessageKey messageIndex'),
  defineKind<proto.IMessageKey>(proto.MessageKey, (key) => ({
    reactionMessage: { key, text: '👍' },
  }))('remoteJid fromMe id participant'),
  defineKind<proto.Message.IExtendedTextMessage>(
    proto.Message.ExtendedTextMessage,
    (extendedTextMessage) => ({ extendedTextMessage }),
  )(
    'text matchedText description title textArgb backgroundArgb font previewType',
    'jpegThumbnail contextInfo doNotPlayInline thumbnailDirectPath thumbnailSha256',
    'thumbnailEncSha256 mediaKey mediaKeyTimestamp thumbnailHeight thumbnailWidth',
    'inviteLinkGroupType inviteLinkParentGroupSubjectV2 inviteLinkParentGroupThumbnailV2',
    'inviteLinkGroupTypeV2 viewOnce videoHeight videoWidth faviconMMSMetadata',
    'linkPreviewMetadata paymentLinkMetadata endCardTiles videoContentUrl musicMetadata',
    'paymentExtendedMetadata',
  ),
  defineKind<proto.Message.IImageMessage>(proto.Message.ImageMessage, (imageMessage) => ({
    imageMessage,
  }))(
    'url mimetype caption fileSha256 fileLength height width mediaKey fileEncSha256',
    'interactiveAnnotations directPath mediaKeyTimestamp jpegThumbnail contextInfo',
    'firstScanSidecar firstScanLength experimentGroupId scansSidecar scanLengths',
    'midQualityFileSha256 midQualityFileEncSha256 viewOnce thumbnailDirectPath',
    'thumbnailSha256 thumbnailEncSha256 staticUrl annotations imageSourceType',
    'accessibilityLabel mediaKeyDomain qrUrl',
  ),
  defineKind<proto.Message.IVideoMessage>(proto.Message.VideoMessage, (videoMessage) => ({
    videoMessage,
  }))(
    'url mimetype fileSha256 fileLength seconds mediaKey caption gifPlayback height width',
    'fileEncSha256 interactiveAnnotations directPath mediaKeyTimestamp jpegThumbnail',
    'contextInfo streamingSidecar gifAttribution viewOnce thumbnailDirectPath',
    'thumbnailSha256 thumbnailEncSha256 staticUrl annotations accessibilityLabel',
    'processedVideos externalShareFullVideoDurationInSeconds',
    'motionPhotoPresentationOffsetMs metadataUrl videoSourceType mediaKeyDomain',
  ),
  defineKind<proto.Message.IAudioMessage>(proto.Message.AudioMessage, (audioMessage) => ({
    audioMessage,
  }))(
    'url mimetype fileSha256 fileLength seconds ptt mediaKey fileEncSha256 directPath',
    'mediaKeyTimestamp contextInfo streamingSidecar waveform backgroundArgb viewOnce',
    'accessibilityLabel mediaKeyDomain',
  ),
  defineKind<proto.Message.IDocumentMessage>(proto.Message.DocumentMessage, (documentMessage) => ({
    documentMessage,
  }))(
    'url mimetype title fileSha256 fileLength pageCount mediaKey fileName fileEncSha256',
    'directPath mediaKeyTimestamp contactVcard thumbnailDirectPath thumbnailSha256',
    'thumbnailEncSha256 jpegThumbnail contextInfo thumbnailHeight thumbnailWidth caption',
    'accessibilityLabel mediaKeyDomain',
  ),
  defineKind<proto.Message.IStickerMessage>(proto.Message.StickerMessage, (stickerMessage) => ({
    stickerMessage,
  }))(
    'url fileSha256 fileEncSha256 mediaKey mimetype height width directPath fileLength',
    'mediaKeyTimestamp firstFrameLength firstFrameSidecar isAnimated pngThumbnail',
    'contextInfo stickerSentTs isAvatar isAiSticker isLottie accessibilityLabel',
    'mediaKeyDomain',
  ),
  defineKind<proto.Message.ILocationMessage>(proto.Message.LocationMessage, (locationMessage) => ({
    locationMessage,
  }))(
    'degreesLatitude degreesLongitude name address url isLive accuracyInMeters speedInMps',
    'degreesClockwiseFromMagneticNorth comment jpegThumbnail contextInfo',
  ),
  defineKind<proto.Message.ILiveLocationMessage>(
    proto.Message.LiveLocationMessage,
    (liveLocationMessage) => ({ liveLocationMessage }),
  )(
    'degreesLatitude degreesLongitude accuracyInMeters speedInMps',
    'degreesClockwiseFromMagneticNorth caption sequenceNumber timeOffset jpegThumbnail',
    'contextInfo',
  ),
  defineKind<proto.Message.IContactMessage>(proto.Message.ContactMessage, (contactMessage) => ({
    contactMessage,
  }))('displayName vcard contextInfo'),
  defineKind<proto.Message.IContactsArrayMessage>(
    proto.Message.ContactsArrayMessage,
    (contactsArrayMessage) => ({ contactsArrayMessage }),
  )('displayName contacts contextInfo'),
  defineKind<proto.Message.IPollCreationMessage>(
    proto.Message.PollCreationMessage,
    (pollCreationMessage) => ({ pollCreationMessage }),
  )(
    'encKey name options selectableOptionsCount contextInfo pollContentType pollType',
    'correctAnswer',
  ),
  defineKind<proto.Message.IProtocolMessage>(proto.Message.ProtocolMessage, (protocolMessage) => ({
    protocolMessage,
  }))(
    'key type ephemeralExpiration ephemeralSettingTimestamp historySyncNotification',
    'appStateSyncKeyShare appStateSyncKeyRequest initialSecurityNotificationSettingSync',
    'appStateFatalExceptionNotification disappearingMode editedMessage timestampMs',
    'peerDataOperationRequestMessage peerDataOperationRequestResponseMessage',
    'botFeedbackMessage invokerJid requestWelcomeMessageMetadata mediaNotifyMessage',
    'cloudApiThreadControlNotification lidMigrationMappingSyncMessage limitSharing',
    'aiPsiMetadata aiQueryFanout memberLabel',
  ),
  defineKind<proto.Message.IReactionMessage>(proto.Message.ReactionMessage, (reactionMessage) => ({
    reactionMessage,
  }))('key text groupingKey senderTimestampMs'),
  defineKind<proto.Message.IButtonsResponseMessage>(
    proto.Message.ButtonsResponseMessage,
    (buttonsResponseMessage) => ({ buttonsResponseMessage }),
  )('selectedButtonId contextInfo type selectedDisplayText'),
  defineKind<proto.Message.IListResponseMessage>(
    proto.Message.ListResponseMessage,
    (listResponseMessage) => ({ listResponseMessage }),
  )('title listType singleSelectReply contextInfo description'),
  defineKind<proto.Message.ITemplateButtonReplyMessage>(
    proto.Message.TemplateButtonReplyMessage,
    (templateButtonReplyMessage) => ({ templateButtonReplyMessage }),
  )('selectedId selectedDisplayText contextInfo selectedIndex selectedCarouselCardIndex'),
  defineKind<proto.Message.IInteractiveResponseMessage>(
    proto.Message.InteractiveResponseMessage,
    (interactiveResponseMessage) => ({ interactiveResponseMessage }),
  )('body contextInfo nativeFlowResponseMessage'),
  defineKind<proto.Message.IFutureProofMessage>(
    proto.Message.FutureProofMessage,
    (ephemeralMessage) => ({ ephemeralMessage }),
  )('message'),
];
