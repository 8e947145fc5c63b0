import { createHash } from 'node:crypto';
import { Body, Controller, Get, Headers, HttpCode, Logger, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readDrain } from '../domain/states.js';
import { MayCall, OwnNode, refuseUnlessOwnNode } from '../platform/access/may-call.decorator.js';
import { Config } from '../platform/config/config.js';
import { nextLink } from '../platform/http/cursor.js';
import { namesTag } from '../platform/http/if-match.js';
import { TakesJson } from '../platform/http/json-body.js';
import { ReleaseEdge } from '../queue/release-edge.js';
import { AdvertAnswerDto, AdvertDto } from './advert.dto.js';
import { Advertise } from './advertise.js';
import { CapabilitiesDto, NodeDto, NodesDto } from './node.dto.js';
import { NodesQueryDto } from './nodes-query.dto.js';
import { AdvertiseNodeApi, GetNodeApi, ListCapabilitiesApi, ListNodesApi } from './nodes.api.js';
import { ShowNodes, shownHold } from './show-nodes.js';

const NO_INSTANCE =
  'the advert names no instance: neither a restart of the node nor a second process under its name can be told';
const LATE = 'an advert with this seq or a higher one came first: this one has changed nothing';

function listed(warnings: (string | undefined)[]): { warnings?: string[] } {
  const given = warnings.filter((warning) => warning !== undefined);
  return given.length > 0 ? { warnings: given } : {};
}

@ApiTags('nodes')
@Controller('v1')
export class NodesController {
  readonly #logger = new Logger('nodes');

  constructor(
    private readonly advert: Advertise,
    private readonly show: ShowNodes,
    private readonly config: Config,
    private readonly edge: ReleaseEdge,
  ) {}

  /** A node says what it offers from now on; this is its heartbeat too. */
  @Post('nodes')
  @MayCall('node', 'operator')
  @HttpCode(200)
  @TakesJson({ bytes: 64 * 1024, values: 10_000 })
  @AdvertiseNodeApi()
  async advertise(@Body() body: AdvertDto, @OwnNode() own: string | undefined): Promise<AdvertAnswerDto> {
    const { node_id, label = node_id, instance = '', seq, capabilities } = body;
    refuseUnlessOwnNode(own, node_id);
    const { drain, warning } = readDrain(body.drain);
    if (warning) this.#logger.warn({ msg: 'an advert has an unknown drain, which counts as none', node_id, warning });
    const advert = { node_id, label, instance, seq, drain, capabilities };
    const stored = await this.edge.run(
      () => this.advert.advertise(advert),
      (released) => released,
    );
    const warnings = [warning, instance === '' ? NO_INSTANCE : undefined, stored.late ? LATE : undefined];
    return {
      node_id,
      renew_seconds: this.config.renewSeconds,
      expires_at: stored.expires_at.toISOString(),
      drain: stored.drain,
      held: shownHold(stored.hold),
      ...listed(warnings),
      leases: await this.advert.leasesOf(node_id),
    };
  }

  /** The nodes that are live, or all that ever spoke, with who holds them. */
  @Get('nodes')
  @MayCall('submitter', 'operator')
  @ListNodesApi()
  async nodes(
    @Query() query: NodesQueryDto,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NodesDto | undefined> {
    const { observed_at, ...page } = await this.show.page(query);
    // A weak one: the moment at which it was looked at makes no difference.
    const tag = `"${createHash('sha256').update(JSON.stringify(page)).digest('base64url')}"`;
    void reply.header('etag', `W/${tag}`);
    if (page.next) void reply.header('link', nextLink(request.url, page.next));
    if (namesTag(ifNoneMatch, tag)) return void reply.status(304);
    return { observed_at, ...page };
  }

  /** A node, live or not. */
  @Get('nodes/:node_id')
  @MayCall('submitter', 'operator')
  @GetNodeApi()
  node(@Param('node_id') nodeId: string): Promise<NodeDto> {
    return this.show.node(nodeId);
  }

  /** Every capability that live nodes offer: what exists, not what is free. */
  @Get('capabilities')
  @MayCall('submitter', 'operator')
  @ListCapabilitiesApi()
  capabilities(): Promise<CapabilitiesDto> {
    return this.show.capabilities();
  }
}
