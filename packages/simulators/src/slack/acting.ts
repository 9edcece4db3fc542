import { listPressableElements } from './blocks.ts';
import type { Delivery } from './delivery.ts';
import type { Interaction } from './interactions.ts';
import { findAuthor, getChannel, getMessage } from './people.ts';
import { applyInteractionResponse, findResponse } from './responding.ts';
import type { SlackServers } from './servers.ts';
import { toWireView } from './views.ts';
import type { Json } from './wire.ts';
import type { Channel, Member } from './workspace.ts';

/** A button that a person presses, or an option of a menu that a person chooses. */
export interface ButtonPress {
  readonly channel: string;
  readonly ts: string;
  readonly label: string;
  readonly from?: string | undefined;
}

/** Presses a button or chooses an option; returns the id of the interaction. */
export function pressButton(
  servers: SlackServers,
  { channel: id, ts, label, from }: ButtonPress,
): string {
  const { workspace, interactions } = servers;
  const channel = getChannel(workspace, id);
  const stored = getMessage(channel, ts);
  const found = listPressableElements(stored.wire.blocks ?? []).find((one) => one.label === label);
  if (found === undefined) throw new Error(`There is no "${label}" below message ${ts}.`);
  const member = findAuthor(workspace, channel, from);
  const interaction = interactions.start(member.id, channel, stored);
  const { block, element, option, type } = found;
  const thread = stored.wire.thread_ts;
  const isEphemeral = stored.onlyFor !== undefined;
  const action = {
    ...{ type, action_id: element.action_id, block_id: block.block_id },
    ...{ action_ts: workspace.ids.ts() },
    ...(option === undefined
      ? { text: element.text, ...pickDefined(element, ['value', 'style']) }
      : { selected_option: option }),
  };
  const payload = {
    type: 'block_actions',
    ...getInteractionFields(servers, member, channel),
    ...interactions.payloadFields(interaction),
    container: {
      ...{ type: 'message', message_ts: ts, channel_id: channel.id, is_ephemeral: isEphemeral },
      ...(thread !== undefined && { thread_ts: thread }),
    },
    ...(!isEphemeral && { message: stored.wire }),
    state: { values: {} },
    actions: [action],
  };
  void deliverInteraction(servers, interaction, {
    type: 'interactive',
    what: 'block_actions',
    payload,
  });
  return interaction.id;
}

export interface SlashCommand {
  readonly channel: string;
  /** The name of the command including the slash, such as `/parley`. */
  readonly command: string;
  readonly text?: string | undefined;
  readonly from?: string | undefined;
}

/** Runs a slash command; returns the id of the interaction. */
export function runSlashCommand(servers: SlackServers, wish: SlashCommand): string {
  const { workspace, interactions } = servers;
  const channel = getChannel(workspace, wish.channel);
  const member = findAuthor(workspace, channel, wish.from);
  const interaction = interactions.start(member.id, channel, undefined);
  const { team } = workspace;
  const payload = {
    ...{ team_id: team.id, team_domain: team.domain, is_enterprise_install: false },
    ...{ channel_id: channel.id, channel_name: getDisplayName(channel) },
    ...{ user_id: member.id, user_name: toHandle(member) },
    ...{ command: wish.command, text: wish.text ?? '' },
    ...interactions.payloadFields(interaction),
  };
  void deliverInteraction(servers, interaction, {
    type: 'slash_commands',
    what: wish.command,
    payload,
  });
  return interaction.id;
}

/** A form that a person fills in, with values keyed by block and action, as in the payload. */
export interface FormSubmission {
  readonly view: string;
  readonly values: Json;
}

/** Submits a form; returns the id of the interaction. */
export function submitForm(servers: SlackServers, { view: id, values }: FormSubmission): string {
  const { workspace, interactions } = servers;
  const view = workspace.views.get(id);
  const member = workspace.members.get(view?.user ?? '');
  if (view === undefined || member === undefined) throw new Error(`There is no form ${id}.`);
  const interaction = interactions.start(member.id, undefined, undefined);
  const payload = {
    type: 'view_submission',
    ...getInteractionFields(servers, member, undefined),
    ...interactions.payloadFields(interaction),
    view: { ...toWireView(view), state: { values } },
    response_urls: [],
  };
  workspace.views.delete(id);
  void deliverInteraction(servers, interaction, {
    type: 'interactive',
    what: 'view_submission',
    payload,
  });
  return interaction.id;
}

/**
 * Delivers an interaction to the bot and shows the response to a slash command from its
 * acknowledgement.
 */
async function deliverInteraction(
  servers: SlackServers,
  interaction: Interaction,
  delivery: Delivery,
): Promise<void> {
  const { dispatcher, workspace } = servers;
  const result = await dispatcher.deliverOnce(delivery);
  interaction.state = result.isAccepted ? 'acknowledged' : 'failed';
  const response = result.isAccepted ? findResponse(result.body) : undefined;
  const isShown = response !== undefined && delivery.type === 'slash_commands';
  if (isShown) applyInteractionResponse(servers, interaction, response);
  workspace.transcript.changes.changed();
}

function getInteractionFields(
  { workspace }: SlackServers,
  member: Member,
  channel: Channel | undefined,
): Json {
  const { team } = workspace;
  const handle = toHandle(member);
  return {
    user: { id: member.id, username: handle, name: handle, team_id: member.teamId },
    team: { id: team.id, domain: team.domain },
    ...{ enterprise: null, is_enterprise_install: false },
    ...(channel && { channel: { id: channel.id, name: getDisplayName(channel) } }),
  };
}

function getDisplayName({ kind, name }: Channel): string {
  return kind === 'dm' ? 'directmessage' : kind === 'private' ? 'privategroup' : name;
}

function toHandle({ name }: Member): string {
  return name.toLowerCase().replaceAll(/\W+/g, '.');
}

function pickDefined(record: Json, names: readonly string[]): Json {
  return Object.fromEntries(
    names.filter((name) => name in record).map((name) => [name, record[name]]),
  );
}
