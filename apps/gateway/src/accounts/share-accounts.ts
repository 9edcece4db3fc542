/**
 * A connected gateway in the deployment, or the seat that a departed gateway has just left to its
 * successor.
 */
export interface GatewaySeat {
  /** The id of the gateway's process; null for a seat reserved for a successor. */
  readonly gateway: string | null;
  /**
   * The start time of the process (ms since 1970); `Infinity` for a successor, or if the time is
   * unknown.
   */
  readonly startedAt: number;
}

/** An account as one gateway sees it. */
export interface ObservedAccount {
  readonly name: string;
  /** The process id of the gateway that serves the account; null if the account is free. */
  readonly holder: string | null;
  /** Increases each time the account moves. */
  readonly epoch: number;
  /**
   * How long (ms) the account has been free for any gateway; 0 while it is held or reserved for a
   * successor.
   */
  readonly freeForMs: number;
}

/** The information on which a gateway bases its decision. */
export interface Deployment {
  /** The process id of the deciding gateway. */
  readonly self: string;
  readonly seats: readonly GatewaySeat[];
  readonly accounts: readonly ObservedAccount[];
  /** Whether no gateway has joined or left recently. */
  readonly isSettled: boolean;
}

/** A gateway's next steps: the accounts to take and the accounts to release. */
export interface ShareDecision {
  readonly take: readonly string[];
  readonly release: readonly string[];
}

/**
 * The time (ms) after which any gateway may take a free account that its designated gateway has not
 * taken.
 */
const LEFT_OVER_AFTER_MS = 1_000;

/**
 * Decides which accounts a gateway takes and which it releases (D14). All gateways apply the same
 * rules to the leases as they see them. If they see them differently, the leases decide. Free
 * accounts go to the gateway with the fewest accounts or, if several have the fewest, to the newest
 * of these. A seat reserved for a successor counts as the newest gateway. In a rolling restart, the
 * successor therefore gets its predecessor's accounts, and accounts do not move twice. Held
 * accounts move only when no gateway has joined or left for a while. Accounts move from the oldest
 * gateways first, starting with the accounts that have moved least often.
 */
export function decideShares({ self, ...deployment }: Deployment): ShareDecision {
  const { seats, accounts, isSettled } = deployment;
  const counts = countBySeat(deployment);
  const free = accounts.filter(({ holder }) => holder === null);
  const own = assignFreeAccounts(free, counts).find(({ seat }) => seat.gateway === self)?.assigned;
  const take = free
    .filter(({ name, freeForMs }) => own?.has(name) || freeForMs >= LEFT_OVER_AFTER_MS)
    .map(({ name }) => name);
  const living = new Set(seats.map(({ gateway }) => gateway));
  const isMoving = living.has(null) || accounts.some(({ holder }) => !living.has(holder));
  if (!isSettled || isMoving) return { take, release: [] };
  const surplus = computeSurplus(self, counts);
  const release = accounts
    .filter(({ holder }) => holder === self)
    .toSorted((one, other) => one.epoch - other.epoch || compareNames(one.name, other.name))
    .slice(0, surplus)
    .map(({ name }) => name);
  return { take, release };
}

/**
 * Returns whether a departing gateway's seat is reserved for a successor. It is not reserved if the
 * successor is already running, as a newer gateway that does not have its share of accounts yet.
 */
export function awaitsSuccessor({
  self,
  ...deployment
}: Pick<Deployment, 'self' | 'seats' | 'accounts'>): boolean {
  const free = deployment.accounts.filter(({ holder }) => holder === null);
  const counts = assignFreeAccounts(free, countBySeat(deployment));
  const startedAt = counts.find(({ seat }) => seat.gateway === self)?.seat.startedAt ?? 0;
  const share = Math.floor(deployment.accounts.length / counts.length);
  return !counts.some(({ seat, count }) => count < share && seat.startedAt > startedAt);
}

interface SeatCount {
  readonly seat: GatewaySeat;
  readonly count: number;
}

/** Counts the accounts of each seat, newest gateway first. */
function countBySeat({ seats, accounts }: Pick<Deployment, 'seats' | 'accounts'>): SeatCount[] {
  const held = Map.groupBy(accounts, ({ holder }) => holder);
  return seats
    .map((seat) => {
      const count = seat.gateway === null ? 0 : (held.get(seat.gateway)?.length ?? 0);
      return { seat, count };
    })
    .toSorted(({ seat: one }, { seat: other }) =>
      one.startedAt === other.startedAt
        ? compareNames(one.gateway ?? '', other.gateway ?? '')
        : other.startedAt - one.startedAt,
    );
}

/**
 * Assigns each free account to the gateway with the fewest accounts or, if several have the fewest,
 * to the newest of these.
 */
function assignFreeAccounts(free: readonly ObservedAccount[], counts: readonly SeatCount[]) {
  const shares = counts.map((share) => ({ ...share, assigned: new Set<string>() }));
  for (const name of free.map((account) => account.name).toSorted(compareNames)) {
    const least = shares.reduce((one, other) => (other.count < one.count ? other : one));
    least.count += 1;
    least.assigned.add(name);
  }
  return shares;
}

/**
 * Returns how many accounts a gateway holds beyond its share. The newest gateway may keep the
 * remainder.
 */
function computeSurplus(self: string, counts: readonly SeatCount[]): number {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const share = Math.floor(all / counts.length);
  const withMore = counts
    .toSorted((one, other) => Math.min(other.count, share + 1) - Math.min(one.count, share + 1))
    .slice(0, all % counts.length);
  const own = counts.find(({ seat }) => seat.gateway === self);
  if (own === undefined) return 0;
  return Math.max(0, own.count - share - (withMore.includes(own) ? 1 : 0));
}

function compareNames(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
