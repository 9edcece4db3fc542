import { describeGuild } from './descriptions.ts';
import type { GatewayFault } from './faults.ts';
import type { Gateway } from './gateway.ts';
import type { Guild, World } from './world.ts';

/** Makes something go wrong with the gateway now. */
export function strikeGateway(world: World, gateway: Gateway, fault: GatewayFault): void {
  switch (fault.kind) {
    case 'drop':
    case 'silence':
    case 'freeze':
    case 'lag':
    case 'reconnect':
    case 'invalid-session':
    case 'close':
      strikeConnections(gateway, fault);
      break;
    case 'forget-sessions':
      gateway.forgetAll();
      break;
    case 'guild-unavailable':
      guildOf(world, fault.guild).available = false;
      world.emit('GUILD_DELETE', { id: fault.guild, unavailable: true }, fault.guild);
      break;
    case 'guild-back': {
      const guild = guildOf(world, fault.guild);
      guild.available = true;
      guild.left = false;
      world.emit('GUILD_CREATE', describeGuild(world, guild), guild.id);
      break;
    }
    case 'kicked':
      guildOf(world, fault.guild).left = true;
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

function strikeConnections(gateway: Gateway, fault: ConnectionFault): void {
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

function guildOf(world: World, id: string): Guild {
  const guild = world.guilds.get(id);
  if (guild === undefined) throw new Error(`No guild ${id}`);
  return guild;
}
