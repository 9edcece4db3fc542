import type { TurnCommand } from './command.ts';

export const compact: TurnCommand = {
  name: 'compact',
  summary: 'shorten what I remember',
  takes: '[message]',
  rest: 'message',
  who: 'everyone',
  groupRight: 'needed',
  inTurn: true,
};
