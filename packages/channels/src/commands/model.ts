import { formatInlineCode } from '@parley/core';
import { type CommandContext, defineChatCommand } from './command.ts';

export const model = defineChatCommand({
  name: 'model',
  summary: 'choose the model of this conversation',
  takes: '[name]',
  rest: 'argument',
  who: 'owner',
  private: true,
  async run(context, transaction) {
    const to = parseModelChoice(context.argument, context.situation.models);
    const { now } = await transaction.changeModel(to === undefined ? 'show' : { to });
    return {
      answer: to === undefined ? describeModels(context, now) : describeModelChange(context, now),
    };
  },
});

const DEFAULT_MODEL = 'default';

/**
 * Null for the model from the settings; undefined when the name is empty, unknown or ambiguous.
 * Part of a name is enough if it matches only one model.
 */
function parseModelChoice(argument: string, known: readonly string[]): string | null | undefined {
  if (argument === '') return undefined;
  const word = argument.toLowerCase();
  if (word === DEFAULT_MODEL) return null;
  const whole = known.find((name) => name.toLowerCase() === word);
  const partly = known.filter((name) => name.toLowerCase().includes(word));
  return whole ?? (partly.length === 1 ? partly[0] : undefined);
}

function describeModelChange(context: CommandContext, now: string | null): string {
  return `From the next message on, ${describeAnsweringModel(context, now)} answers in this conversation.`;
}

function describeModels(context: CommandContext, now: string | null): string {
  const { argument, situation } = context;
  const unknown = argument === '' ? [] : [`There is no model ${formatInlineCode(argument)}.`];
  const list = [...situation.models, DEFAULT_MODEL].map((name) => `- \`/model ${name}\``);
  const none = 'The settings name no other model: list some under `model.choices`.';
  return [
    ...unknown,
    `Here ${describeAnsweringModel(context, now)} answers.`,
    situation.models.length === 0 ? none : list.join('\n'),
  ].join('\n\n');
}

/** Only the owner is shown why this model was chosen. */
function describeAnsweringModel(
  { situation, audience }: CommandContext,
  now: string | null,
): string {
  if (now !== null) return `\`${now}\``;
  return `the model of the settings${audience === 'owner' ? ` (${situation.model})` : ''}`;
}
