/*
 * Watches what the program in this process asks the database: every statement, whether it stands in a transaction, and, by
 * auto_explain, the rows that its plan has really read. The plans come back to the connection that sent the statement, as
 * notices.
 */
import pg from 'pg';

/** Of a database before anybody connects: the plan of every statement is sent back as JSON. */
export async function explainEverything(client, database) {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  };
  for (const [name, value] of Object.entries(settings)) {
    await client.query(`ALTER DATABASE ${database} SET ${name} = '${value}'`);
  }
}

/** What is watched from now on; `take()` gives it and forgets it. */
export class Watched {
  #statements = [];
  #plans = [];
  #query = pg.Client.prototype.query;
  #inTransaction = new WeakMap();

  /** Before the program connects. */
  static begin() {
    const watched = new Watched();
    const seen = new WeakSet();
    pg.Client.prototype.query = function (...args) {
      if (!seen.has(this)) {
        seen.add(this);
        this.on('notice', (notice) => watched.#plan(notice.message));
      }
      watched.#statement(this, typeof args[0] === 'string' ? args[0] : (args[0]?.text ?? ''));
      return watched.#query.apply(this, args);
    };
    return watched;
  }

  take() {
    const taken = { statements: this.#statements, plans: this.#plans };
    [this.#statements, this.#plans] = [[], []];
    return taken;
  }

  end() {
    pg.Client.prototype.query = this.#query;
  }

  #statement(client, text) {
    if (/^(BEGIN|START TRANSACTION)/i.test(text)) this.#inTransaction.set(client, true);
    else if (/^(COMMIT|ROLLBACK$)/i.test(text)) this.#inTransaction.delete(client);
    else this.#statements.push({ text, inTransaction: this.#inTransaction.has(client) });
  }

  #plan(message) {
    const json = message.indexOf('{');
    if (json < 0 || !message.startsWith('duration:')) return;
    const explained = JSON.parse(message.slice(json));
    this.#plans.push({ text: explained['Query Text'], rows: rowsRead(explained.Plan) });
  }
}

/** Rows that the scans of a plan have touched, those too that a filter then dropped. */
function rowsRead(plan) {
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0);
  const scans = plan['Relation Name'] !== undefined && /Scan/.test(plan['Node Type']);
  if (!scans) return below;
  const touched = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'];
  const each = touched.reduce((sum, key) => sum + (plan[key] ?? 0), 0);
  return below + Math.round(each * (plan['Actual Loops'] ?? 1));
}
