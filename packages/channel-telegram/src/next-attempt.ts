import type { CallFailure } from './call-failure.ts';
import { isFormatRefusal } from './send-failure.ts';

/** How one call is made; each of these changes at most once between the attempts for a part. */
export interface Attempt {
  readonly chatId: string;
  /** With markup, or as plain text. */
  readonly html: boolean;
  /** A picture or recording goes out as an ordinary file. */
  readonly asDocument: boolean;
}

/** What is different the next time, and why, for the log. */
export interface NextAttempt {
  readonly attempt: Attempt;
  readonly because: string;
}

const MEDIA_REFUSED =
  /PHOTO_|IMAGE_PROCESS_FAILED|VOICE_MESSAGES_FORBIDDEN|VIDEO_|AUDIO_|MEDIA_INVALID|wrong type of the web page content|restricted receiving of (?:voice|video)/i;

/**
 * Refusals that another form of the same part goes round: markup Telegram cannot read, a picture it
 * does not like, a group that has become a supergroup. Repeating is safe, as it sent nothing.
 */
export function nextAttempt(attempt: Attempt, failure: CallFailure): NextAttempt | undefined {
  if (failure.kind !== 'refused') return undefined;
  const { migrateTo, reason } = failure;
  if (migrateTo !== undefined && migrateTo !== attempt.chatId) {
    const because = 'the group became a supergroup; sending there';
    return { attempt: { ...attempt, chatId: migrateTo }, because };
  }
  if (isFormatRefusal(failure) && attempt.html) {
    return { attempt: { ...attempt, html: false }, because: 'markup refused; sending plain text' };
  }
  if (MEDIA_REFUSED.test(reason) && !attempt.asDocument) {
    const because = 'not taken as a picture or recording; sending it as a file';
    return { attempt: { ...attempt, asDocument: true }, because };
  }
  return undefined;
}
