import { z } from 'zod';
import { ArmedFaults, createCallFaultShapes, FAULT_AIM } from '../armed-faults.ts';
import { describeGuild } from './descriptions.ts';
import type { Gateway } from './gateway.ts';
import type { Guild, World } from './world.ts';

const aim = {
  ...FAULT_AIM,
  /**
   * The beginning of the method and path, for example `POST /channels/`; when absent, all calls
   * except GET match.
   */
  call: z.string().optional(),
  channel: z.string().optional(),
  /**
   * The call takes effect before the fault: the message is stored, but the sender does not get a
   * confirmation.
   */
  after: z.boolean().optional(),
};

const kind = <K extends string>(name: K) => ({ kind: z.literal(name) });
const ms = z.number();
const guild = z.string();

/** A REST fault, injected at the next matching call. */
const RestFault = z.discriminatedUnion('kind', [
  ...createCallFaultShapes(aim),
  /** Answers with an error in Discord's own format. */
  z.strictObject({
    ...kind('refuse'),
    status: z.number(),
    code: z.number(),
    message: z.string(),
    ...aim,
  }),
  /** Answers with status 429, for this route or globally. */
  z.strictObject({
    ...kind('rate-limit'),
    retryAfterMs: ms,
    global: z.boolean().optional(),
    ...aim,
  }),
  /**
   * Closes the connection cleanly instead of answering. discord.js gives up, whereas it retries
   * after `reset`.
   */
  z.strictObject({ ...kind('hang-up'), ...aim }),
]);
export type RestFault = z.infer<typeof RestFault>;

/** A gateway fault that takes effect immediately. */
const GatewayFault = z.discriminatedUnion('kind', [
  /** Drops the connection without a close frame. */
  z.strictObject(kind('drop')),
  /** The connection stays open but delivers nothing, not even heartbeat acknowledgements. */
  z.strictObject(kind('silence')),
  /**
   * Like `silence`, but the servers do not receive client frames either, not even a close frame.
   */
  z.strictObject(kind('freeze')),
  /** Delays all frames on the current connections and keeps their order. */
  z.strictObject({ ...kind('lag'), ms }),
  /** Sends op 7, which asks the client to reconnect. */
  z.strictObject(kind('reconnect')),
  /** Sends op 9; the session is lost unless `resumable` is true. */
  z.strictObject({ ...kind('invalid-session'), resumable: z.boolean() }),
  /** The servers close the connection with a code, for example 4009. */
  z.strictObject({ ...kind('close'), code: z.number() }),
  /** Every RESUME fails from now on. */
  z.strictObject(kind('forget-sessions')),
  /** A RESUME is not answered until `release-resumes`. */
  z.strictObject(kind('hold-resumes')),
  z.strictObject(kind('release-resumes')),
  /**
   * Answers the next RESUMEs by closing the connection with this code, for example 4000; the
   * session survives.
   */
  z.strictObject({ ...kind('close-resumes'), code: z.number(), count: z.number() }),
  /** Makes a guild unavailable, or available again. */
  z.strictObject({ ...kind('guild-unavailable'), guild }),
  z.strictObject({ ...kind('guild-back'), guild }),
  /** Removes the bot from a guild. */
  z.strictObject({ ...kind('kicked'), guild }),
  /** Delivers each of the next `count` events twice. */
  z.strictObject({ ...kind('duplicate'), events: z.number() }),
  /** Swaps the two events in each of the next `count` pairs. */
  z.strictObject({ ...kind('swap'), pairs: z.number() }),
]);
export type GatewayFault = z.infer<typeof GatewayFault>;

export const Fault = z.discriminatedUnion('kind', [RestFault, GatewayFault]);
export type Fault = z.infer<typeof Fault>;

/** Whether a fault takes effect on the gateway immediately rather than on a later call. */
export function isGatewayFault(fault: Fault): fault is GatewayFault {
  return GatewayFault.safeParse(fault).success;
}

export class RestFaults extends ArmedFaults<RestFault> {
  /** Returns the fault for this call and counts it as used. */
  takeFor(call: string, channel: string | undefined): RestFault | undefined {
    return this.take((fault) => (matchesFault(fault, call, channel) ? fault : undefined));
  }
}

function matchesFault(fault: RestFault, call: string, channel: string | undefined): boolean {
  if (fault.channel !== undefined && fault.channel !== channel) return false;
  return fault.call === undefined ? !call.startsWith('GET ') : call.startsWith(fault.call);
}

export function applyGatewayFault(world: World, gateway: Gateway, fault: GatewayFault): void {
  switch (fault.kind) {
    case 'drop':
    case 'silence':
    case 'freeze':
    case 'lag':
    case 'reconnect':
    case 'invalid-session':
    case 'close':
      applyConnectionFault(gateway, fault);
      break;
    case 'forget-sessions':
      gateway.forgetAll();
      break;
    case 'hold-resumes':
      gateway.holdResumes();
      break;
    case 'release-resumes':
      gateway.releaseResumes();
      break;
    case 'close-resumes':
      gateway.closeResumes(fault.code, fault.count);
      break;
    case 'guild-unavailable':
      requireGuild(world, fault.guild).available = false;
      world.emit('GUILD_DELETE', { id: fault.guild, unavailable: true }, fault.guild);
      break;
    case 'guild-back': {
      const guild = requireGuild(world, fault.guild);
      guild.available = true;
      guild.left = false;
      world.emit('GUILD_CREATE', describeGuild(world, guild), guild.id);
      break;
    }
    case 'kicked':
      requireGuild(world, fault.guild).left = true;
      world.emit('GUILD_DELETE', { id: fault.guild }, fault.guild);
      break;
    case 'duplicate':
      gateway.duplicate(fault.events);
      break;
    case 'swap':
      gateway.swap(fault.pairs);
      break;
  }
}

type ConnectionFault = Extract<
  GatewayFault,
  { kind: 'drop' | 'silence' | 'freeze' | 'lag' | 'reconnect' | 'invalid-session' | 'close' }
>;

function applyConnectionFault(gateway: Gateway, fault: ConnectionFault): void {
  for (const connection of gateway.connections) {
    if (fault.kind === 'drop') connection.drop();
    else if (fault.kind === 'silence') connection.silent = true;
    else if (fault.kind === 'freeze') connection.freeze();
    else if (fault.kind === 'lag') connection.lagMs = fault.ms;
    else if (fault.kind === 'reconnect') connection.signal(7);
    else if (fault.kind === 'close') connection.close(fault.code, '');
    else {
      if (!fault.resumable && connection.session !== undefined) gateway.forget(connection.session);
      connection.detach();
      connection.signal(9, fault.resumable);
    }
  }
}

function requireGuild(world: World, id: string): Guild {
  const guild = world.guilds.get(id);
  if (guild === undefined) throw new Error(`No guild ${id}`);
  return guild;
}
