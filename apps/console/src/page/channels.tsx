import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { order } from './gateway.ts';
import { PairingView, pairingOf } from './pairing.tsx';
import type { Route } from './route.ts';
import { useOperation, useWork, type Work } from './ui/data.tsx';
import { counted, momentOf, timeOfDay } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { ActionButton, List, OutcomeNote, Said, Section, Show } from './ui/widgets.tsx';

type ChannelsReport = OutputOf<'channels/report'>;
type ShownAccount = ChannelsReport['accounts'][number];

/**
 * How often the channels are requested, in ms: account states and pending people change
 * independently of the page.
 */
const POLL_INTERVAL_MS = 5_000;

/**
 * The accounts, the people waiting for access, and the groups that wrote without having access
 * (U03, F05).
 */
export function ChannelsView({ args: [shown] }: Route): VNode {
  const data = useOperation('channels/report', {}, POLL_INTERVAL_MS);
  const { outcome, run } = useWork();
  return (
    <ColumnView name="channels-view" title="Channels">
      <OutcomeNote outcome={outcome} />
      <Show data={data}>
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
                  <Account
                    key={`${one.channel}/${one.account}`}
                    shown={one}
                    run={run}
                    showsCode={shown === 'code'}
                  />
                )}
              </List>
            </Section>
            {groups.length > 0 && (
              <Section title="Groups not allowed yet">
                <p class="facts">The bot receives their messages but doesn't answer.</p>
                <List look="cards" of={groups}>
                  {(one) => (
                    <WritingGroup
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
      </Show>
    </ColumnView>
  );
}

interface ApplicantProps {
  readonly applicant: ChannelsReport['waiting'][number];
  readonly run: Work['run'];
}

/**
 * A person whose messages are not accepted yet. They chose the name themselves, so it is shown as
 * plain text.
 */
function Applicant({ applicant, run }: ApplicantProps): VNode {
  const { code, channel, account, senderId, senderName, expiresAt } = applicant;
  const decide = (path: 'pair' | 'refuse') => () =>
    run(() => order(`access/${path}`, { code }, ({ text }) => text));
  return (
    <article class="card" aria-label={senderName}>
      <Said look="entry-title">{senderName}</Said>
      <p class="facts">
        {channel}:{senderId} on {accountLabel({ channel, account })}, code {code} until{' '}
        {timeOfDay(expiresAt)}
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
  readonly shown: ShownAccount;
  readonly run: Work['run'];
  /** Whether the code to scan with a phone is shown initially. */
  readonly showsCode: boolean;
}

const STATES: Readonly<Record<ShownAccount['state']['kind'], string>> = {
  starting: 'Connecting',
  pairing: 'Waiting for its phone',
  connected: 'Connected',
  standby: 'Standby',
  retrying: 'Retrying',
  failed: 'Not working',
  paused: 'Paused',
  stopped: 'Stopped',
};

function Account({ shown, run, showsCode }: AccountProps): VNode {
  const [isOpen, setOpen] = useState(showsCode);
  const [unlinked] = pairingOf([shown]).unlinked;
  const { state, reason, fix, canPause, webhook } = shown;
  const name = accountLabel(shown);
  const isPaused = state.kind === 'paused';
  const isConnected = state.kind === 'connected' || state.kind === 'standby';
  const { channel, account } = shown;
  const press = (action: 'pause' | 'resume' | 'reconnect', done: string) => () =>
    run(() => order(`channels/${action}`, { channel, account }, () => done));
  const test = () => run(() => order('channels/test', { channel, account }, ({ text }) => text));
  return (
    <article class="card" aria-label={name}>
      <header>
        <h4>{name}</h4>
        <span class={`tone facts of-${state.kind}`}>{STATES[state.kind]}</span>
      </header>
      {state.kind === 'connected' && <p class="facts">as {state.as}</p>}
      {isPaused && (
        <p class="facts">
          by {state.by}, {momentOf(state.since)}
        </p>
      )}
      {reason !== undefined && <p>{reason}</p>}
      {fix !== undefined && <p class="facts">{fix}</p>}
      {webhook !== undefined && (
        <p class="facts">Its platform calls {webhook} below the public address.</p>
      )}
      <Rules {...shown} />
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
function Rules({ access }: Pick<ShownAccount, 'access'>): VNode | null {
  if (access === undefined) return null;
  const { direct, allow, groups, allowGroups } = access;
  const named = allow === 0 ? '' : `, ${counted(allow, 'person', 'people')} named`;
  const served = {
    allowlist: `${counted(allowGroups.length, 'group')} allowed`,
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
  readonly run: Work['run'];
}

/** A group that wrote to the bot. Its title is untrusted and shown as plain text. */
function WritingGroup({ group, run }: GroupProps): VNode {
  const { channel, account, chatId, title, seenAt } = group;
  const name = title ?? chatId;
  const allow = () =>
    run(() => order('channels/allow', { channel, account, chatId }, ({ text }) => text));
  return (
    <article class="card" aria-label={name}>
      <Said look="entry-title">{name}</Said>
      <p class="facts">
        {chatId} on {accountLabel(group)}, last seen {momentOf(seenAt)}
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
function accountLabel({ channel, account }: AccountName): string {
  return account === 'default' ? channel : `${channel}/${account}`;
}
