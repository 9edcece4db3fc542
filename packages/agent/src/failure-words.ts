import type { Reader } from '@parley/contracts';
import type { ModelError } from '@parley/models';

/** Told when a turn was begun again and again and never ended. */
export const GAVE_UP =
  'Something went wrong each time I tried to answer this, and I have given up on it. Please ask again; the log says what it was.';

/** Told when the answer holds nothing that a person could see, such as a comment. */
export const NOTHING_TO_SHOW =
  'The model answered with nothing that can be shown. Please ask again, or in other words.';

/**
 * What a person is told when the model gave no answer. An owner reads what happened and what to do;
 * everybody else nothing about servers, keys and settings, which are none of their business.
 */
export function failureWords(error: ModelError, reader: Reader): string {
  if (reader.kind === 'owner') return error.message;
  switch (error.failure.kind) {
    case 'too-long':
      return 'This conversation has become too long for my model. Send /new to start afresh.';
    case 'filtered':
      return 'My model declined to answer this. Please put it in other words.';
    case 'rate-limited':
    case 'overloaded':
      return 'My model has too much to do just now. Please try again in a while.';
    default:
      return 'I could not get an answer from my model. Please try again later.';
  }
}
