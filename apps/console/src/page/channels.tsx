import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { runOperation } from './gateway.ts';
import { listUnlinkedAccounts, PairingView } from './pairing.tsx';
import type { Route } from './route.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatCounted, formatMoment, formatTimeOfDay } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import {
  ActionButton,
  DataContent,
  List,
  OutcomeNote,
  OutsideText,
  Section,
} from './ui/widgets.tsx';

type ChannelsReport = OutputOf<'channels/report'>;
type AccountSummary = ChannelsReport['accounts'][number];

/**
 * The interval between requests for the channels, in ms: account states and people waiting for
 * access change independently of the page.
 */
const POLL_INTERVAL_MS = 5_000;

/**
 * The accounts, the people waiting for access, and the groups that wrote without access (U03, F05).
 */
export function ChannelsView({ args: [shown] }: Route): VNode {
  const data = useOperation('channels/report', {}, POLL_INTERVAL_MS);
  const { outcome, run } = useActionRunner();
  return (
    <ColumnView name="channels-view" title="Channels">
      <OutcomeNote outcome={outcome} />
      <DataContent data={data}>
        {({ waiting, accounts, groups }) => (
          <>
            {waiting.length > 0 && (
              <Section title="People waiting for approval">
                <List look="cards" of={waiting}>
                  {(one) => <Applicant key={one.code} applicant={one} run={run} />}
                </List>
              </Section>
            )}
            <Section title="Accounts">
              <List look="cards" of={accounts}>
                {(one) => (
                  <AccountCard
                    key={`${one.channel}/${one.account}`}
                    shown={one}
                    run={run}
                    showsCode={shown === 'code'}
                  />
                )}
              </List>
            </Section>
            {groups.length > 0 && (
              <Section title="Groups that are not allowed yet">
                <p class="facts">The bot receives their messages but doesn't answer.</p>
                <List look="cards" of={groups}>
                  {(one) => (
                    <UnlistedGroup
                      key={`${one.channel}/${one.account} ${one.chatId}`}
                      group={one}
                      run={run}
                    />
                  )}
                </List>
              </Section>
            )}
          </>
        )}
      </DataContent>
    </ColumnView>
  );
}

interface ApplicantProps {
  readonly applicant: ChannelsReport['waiting'][number];
  readonly run: ActionRunner['run'];
}

/**
 * A person whose messages are not accepted yet. The person chose this name, so it is shown as plain
 * text.
 */
function Applicant({ applicant, run }: ApplicantProps): VNode {
  const { code, channel, account, senderId, senderName, expiresAt } = applicant;
  const decide = (path: 'pair' | 'refuse') => () =>
    run(() => runOperation(`access/${path}`, { code }, ({ text }) => text));
  return (
    <article class="card" aria-label={senderName}>
      <OutsideText look="entry-title">{senderName}</OutsideText>
      <p class="facts">
        {channel}:{senderId} on {formatAccountLabel({ channel, account })}, code {code} until{' '}
        {formatTimeOfDay(expiresAt)}
      </p>
      <p class="actions">
        <ActionButton
          label="Let in"
          name={`Let in: ${senderName}`}
          look="is-main"
          onPress={decide('pair')}
        />
        <ActionButton label="Refuse" name={`Refuse: ${senderName}`} onPress={decide('refuse')} />
      </p>
    </article>
  );
}

interface AccountProps {
  readonly shown: AccountSummary;
  readonly run: ActionRunner['run'];
  /** Whether the QR code for linking a phone is visible at first. */
  readonly showsCode: boolean;
}

const STATES: Readonly<Record<AccountSummary['state']['kind'], string>> = {
  starting: 'Connecting',
  pairing: 'Waiting for its phone',
  connected: 'Connected',
  standby: 'Standby',
  retrying: 'Retrying',
  failed: 'Not working',
  paused: 'Paused',
  stopped: 'Stopped',
};

function AccountCard({ shown, run, showsCode }: AccountProps): VNode {
  const [isOpen, setOpen] = useState(showsCode);
  const [unlinked] = listUnlinkedAccounts([shown]).unlinked;
  const { state, reason, fix, canPause, webhook } = shown;
  const name = formatAccountLabel(shown);
  const isPaused = state.kind === 'paused';
  const isConnected = state.kind === 'connected' || state.kind === 'standby';
  const { channel, account } = shown;
  const press = (action: 'pause' | 'resume' | 'reconnect', done: string) => () =>
    run(() => runOperation(`channels/${action}`, { channel, account }, () => done));
  const test = () =>
    run(() => runOperation('channels/test', { channel, account }, ({ text }) => text));
  return (
    <article class="card" aria-label={name}>
      <header>
        <h4>{name}</h4>
        <span class={`tone facts of-${state.kind}`}>{STATES[state.kind]}</span>
      </header>
      {state.kind === 'connected' && <p class="facts">as {state.as}</p>}
      {isPaused && (
        <p class="facts">
          by {state.by}, {formatMoment(state.since)}
        </p>
      )}
      {reason !== undefined && <p>{reason}</p>}
      {fix !== undefined && <p class="facts">{fix}</p>}
      {webhook !== undefined && (
        <p class="facts">Its platform calls {webhook} under the public address.</p>
      )}
      <AccessRules {...shown} />
      {unlinked && isOpen && <PairingView account={unlinked} />}
      <p class="actions">
        {unlinked && (
          <ActionButton
            label={isOpen ? 'Hide the code' : 'Show the code'}
            name={`${isOpen ? 'Hide' : 'Show'} the code: ${name}`}
            isExpanded={isOpen}
            onPress={() => setOpen(!isOpen)}
          />
        )}
        {isConnected && (
          <ActionButton label="Send test" name={`Send test: ${name}`} onPress={test} />
        )}
        {!isPaused && (
          <ActionButton
            label="Reconnect"
            name={`Reconnect: ${name}`}
            onPress={press('reconnect', `${name} is reconnecting.`)}
          />
        )}
        {canPause && (
          <ActionButton
            label={isPaused ? 'Resume' : 'Pause'}
            name={`${isPaused ? 'Resume' : 'Pause'}: ${name}`}
            look={isPaused ? 'is-main' : ''}
            onPress={
              isPaused ? press('resume', `${name} resumed.`) : press('pause', `${name} paused.`)
            }
          />
        )}
      </p>
    </article>
  );
}

const DIRECT = {
  pairing: 'Direct chats: strangers get a code',
  allowlist: 'Direct chats: only people named in the settings',
  open: 'Direct chats: open to everyone',
  disabled: 'Direct chats: owners only',
  token: 'Clients with a token from the settings',
} as const;

/** The access rules that the settings define for an account. */
function AccessRules({ access }: Pick<AccountSummary, 'access'>): VNode | null {
  if (access === undefined) return null;
  const { direct, allow, groups, allowGroups } = access;
  const named = allow === 0 ? '' : `, ${formatCounted(allow, 'person', 'people')} named`;
  const served = {
    allowlist: `${formatCounted(allowGroups.length, 'group')} allowed`,
    open: 'all groups',
    disabled: 'no groups',
  }[groups];
  return (
    <p class="facts">
      {DIRECT[direct]}
      {named}. Groups: {served}.
    </p>
  );
}

interface GroupProps {
  readonly group: ChannelsReport['groups'][number];
  readonly run: ActionRunner['run'];
}

/** A group that wrote to the bot. The title of a group is untrusted and shown as plain text. */
function UnlistedGroup({ group, run }: GroupProps): VNode {
  const { channel, account, chatId, title, seenAt } = group;
  const name = title ?? chatId;
  const allow = () =>
    run(() => runOperation('channels/allow', { channel, account, chatId }, ({ text }) => text));
  return (
    <article class="card" aria-label={name}>
      <OutsideText look="entry-title">{name}</OutsideText>
      <p class="facts">
        {chatId} on {formatAccountLabel(group)}, last seen {formatMoment(seenAt)}
      </p>
      <p class="actions">
        <ActionButton label="Allow" name={`Allow: ${name}`} onPress={allow} />
      </p>
    </article>
  );
}

interface AccountName {
  readonly channel: string;
  readonly account: string;
}

/**
 * Omits the account's name if it is the default name: most people have one account per platform and
 * never named it.
 */
function formatAccountLabel({ channel, account }: AccountName): string {
  return account === 'default' ? channel : `${channel}/${account}`;
}
