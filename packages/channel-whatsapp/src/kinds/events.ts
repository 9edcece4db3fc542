import { proto } from '@whiskeysockets/baileys';
import { renderLocation } from './places.ts';
import {
  formatHeading,
  formatLabeledLine,
  formatUtcMinute,
  formatUtcMinuteFromMs,
  joinLines,
  type KindContent,
  shortenToLine,
  toSafeInteger,
} from './reading.ts';

export function readEvent(event: proto.Message.IEventMessage): KindContent {
  const { name, description, location, joinLink, startTime, endTime, isCanceled } = event;
  return {
    shown: joinLines(
      formatHeading(isCanceled === true ? 'Cancelled event' : 'Event', name),
      formatLabeledLine('Starts', formatUtcMinute(startTime)),
      formatLabeledLine('Ends', formatUtcMinute(endTime)),
      location && formatLabeledLine('Place', renderLocation(location)),
      formatLabeledLine('Link', joinLink),
      description,
    ),
  };
}

/** A poll; all its variants share their fields. */
export function readPoll({
  name,
  options,
  pollType,
}: proto.Message.IPollCreationMessage): KindContent {
  const isQuiz = pollType === proto.Message.PollType.QUIZ;
  const choices = (options ?? []).map(({ optionName }) => `- ${shortenToLine(optionName)}`);
  return { shown: [formatHeading(isQuiz ? 'Quiz' : 'Poll', name), ...choices].join('\n') };
}

export function readPollResult(poll: proto.Message.IPollResultSnapshotMessage): KindContent {
  const votes = (poll.pollVotes ?? []).map(({ optionName, optionVoteCount }) => {
    const count = toSafeInteger(optionVoteCount) ?? 0;
    return `- ${shortenToLine(optionName)}: ${count} ${count === 1 ? 'vote' : 'votes'}`;
  });
  return { shown: [formatHeading('Results of a poll', poll.name), ...votes].join('\n') };
}

/** A call planned by somebody. */
export function readScheduledCall(call: proto.Message.IScheduledCallCreationMessage): KindContent {
  const { CallType } = proto.Message.ScheduledCallCreationMessage;
  const label = call.callType === CallType.VIDEO ? 'Planned video call' : 'Planned call';
  const starts = formatLabeledLine('Starts', formatUtcMinuteFromMs(call.scheduledTimestampMs));
  return { shown: joinLines(formatHeading(label, call.title), starts) };
}

const OUTCOMES: Readonly<Record<keyof typeof proto.Message.CallLogMessage.CallOutcome, string>> = {
  CONNECTED: 'answered',
  MISSED: 'missed',
  FAILED: 'failed',
  REJECTED: 'declined',
  ACCEPTED_ELSEWHERE: 'answered elsewhere',
  ONGOING: 'going on',
  SILENCED_BY_DND: 'silenced',
  SILENCED_UNKNOWN_CALLER: 'silenced',
};
const OUTCOME_NAMES = new Map(Object.entries(OUTCOMES));

/** The outcome of a call, as the chat shows it. */
export function readCallLog(call: proto.Message.ICallLogMessage): KindContent {
  const { CallOutcome } = proto.Message.CallLogMessage;
  const outcome = OUTCOME_NAMES.get(CallOutcome[call.callOutcome ?? 0] ?? '');
  const seconds = toSafeInteger(call.durationSecs) ?? 0;
  const facts = [outcome, seconds > 0 && `${seconds} s`].filter((fact) => Boolean(fact));
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return { shown: `[${call.isVideo === true ? 'Video call' : 'Call'}${about}]` };
}
